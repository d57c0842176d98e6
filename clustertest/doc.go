// Package clustertest tests runhook as it is deployed on the real cluster that
// localcluster makes: `make cluster-test` brings both up and runs it, and
//
//	eval "$(bin/localcluster env)" && go test -tags cluster -run TestOneRunPerPush ./clustertest
//
// runs one test. Each test makes runs of its own and deletes them, so that two
// test runs after another give the same. Those that only wait for their pods
// run beside each other; what one test can use at a time, such as the scarce
// queue or the API server's outage, is taken with alone. Tests that stop, taint
// or measure what others use are not parallel.
package clustertest

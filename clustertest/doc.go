// Package clustertest tests runhook as it is deployed on the real cluster that
// localcluster makes: `make cluster-test` brings both up and runs it, and
//
//	eval "$(bin/localcluster env)" && go test -tags cluster -run TestOneRunPerPush ./clustertest
//
// runs one test. Each test makes runs of its own and deletes them, so that two
// test runs after another give the same.
package clustertest

// Apart from runhook's module: Argo Events brings the clients of every cloud,
// and its controller-runtime belongs to an older Kubernetes. `make sensors`
// tests with the go.mod of localcluster/build instead of this one: the versions of the
// cluster's own Argo Events, compiled already.
module github.com/runhook/runhook/sensors

go 1.26.8

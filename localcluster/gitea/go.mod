module github.com/runhook/runhook/localcluster/gitea

go 1.26.8

// Gitea is built in a copy of its own module, with its own go.mod: this one pins which.
require code.gitea.io/gitea v1.24.6

// Command image packs the runhook binary as a container image, without a
// container engine, and pushes it to a registry. It prints the reference by
// digest. The same binary gives the same digest.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	binary := flags.String("binary", "bin/runhook", "the static binary to pack")
	roots := flags.String("roots", "/etc/ssl/certs/ca-certificates.crt", "the CA certificates to trust")
	to := flags.String("to", "", "where to push, as registry/name:tag; credentials are those of the local Docker config")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ref, err := name.NewTag(*to)
	if err != nil {
		return fmt.Errorf("-to: %w", err)
	}
	image, err := pack(*binary, *roots)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := remote.Write(ref, image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push to %s: %w", ref, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	fmt.Println(ref.Context().Digest(digest.String()))
	return nil
}

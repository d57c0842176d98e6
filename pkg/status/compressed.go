package status

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/runhook/runhook/pkg/fault"
	"github.com/runhook/runhook/pkg/limits"
)

// decompress reads Argo's compressed node status: base64 of gzip, of zstd or,
// as brotli has no magic number, else of brotli. The result is bounded: the
// object may be anybody's.
func decompress(text string) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "status.compressedNodes: not base64: %v", err)
	}
	reader, format, err := unpacker(packed)
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "status.compressedNodes: not %s: %v", format, err)
	}
	plain, err := io.ReadAll(io.LimitReader(reader, limits.NodeStatus+1))
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "status.compressedNodes: not %s: %v", format, err)
	}
	if len(plain) > limits.NodeStatus {
		return nil, fault.New(fault.TooLarge, "status.compressedNodes: over %d bytes when decompressed", limits.NodeStatus)
	}
	return plain, nil
}

func unpacker(packed []byte) (io.Reader, string, error) {
	switch {
	case bytes.HasPrefix(packed, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(packed))
		return r, "gzip", err
	case bytes.HasPrefix(packed, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(bytes.NewReader(packed),
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(limits.NodeStatus), zstd.WithDecoderMaxMemory(limits.NodeStatus+1))
		if err != nil {
			return nil, "zstd", err
		}
		return r.IOReadCloser(), "zstd", nil
	default:
		return brotli.NewReader(bytes.NewReader(packed)), "gzip, zstd or brotli", nil
	}
}

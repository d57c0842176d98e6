//go:build cluster

package clustertest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wantBuildEvents waits until a build, or that of a run, was told of to its end,
// and gives what was told last. What has happened already is the present state.
func (s *site) wantBuildEvents(of string, want ...string) told {
	s.Helper()
	stream := s.followAfter(of, "none that anybody knows")
	s.eventually("the end of "+of+" is told", func() error {
		if got := stream.of("build"); len(got) < len(want) {
			return fmt.Errorf("so far: %v", got)
		}
		return nil
	})
	if diff := cmp.Diff(want, stream.of("build")); diff != "" {
		s.Errorf("of %s was told: %s", of, diff)
	}
	var last told
	ids := map[string]bool{}
	for _, e := range stream.all() {
		if e.Build.Phase != "" {
			last, ids[e.ID] = e, true
		}
	}
	if len(ids) != len(want) {
		s.Errorf("%v have %d ids", want, len(ids))
	}
	return last
}

func TestBuildsAreToldOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		steps string
		want  string
	}{
		"pushed": {"COPY said.txt /\n", "succeeded"},
		"broken": {"COPY said.txt /\nRUN exit 3\n", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			request := dockerfile(t, tc.steps)
			begun := s.build(request)
			s.deleteBuildAtEnd(begun.Build)
			last := s.wantBuildEvents(begun.Build, "pending", "building", tc.want)
			// build-image says the same, once it is asked.
			is := s.ended(request)
			if last.Subject != is.Build || last.Build.Ref != is.Ref || string(last.Build.Phase) != is.Phase || last.Build.Digest != is.Digest {
				t.Errorf("told was %+v, and build-image says %+v", last.Build, is)
			}
		})
	}
}

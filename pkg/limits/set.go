package limits

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runhook/runhook/pkg/fault"
)

// Set holds the limits that the config may change.
type Set struct {
	Head         resource.Quantity `json:"head"`
	HookBody     resource.Quantity `json:"hookBody"`
	FunctionBody resource.Quantity `json:"functionBody"`
	HeadTime     metav1.Duration   `json:"headTime"`
	BodyTime     metav1.Duration   `json:"bodyTime"`
	HookTime     metav1.Duration   `json:"hookTime"`
	FunctionTime metav1.Duration   `json:"functionTime"`
	ListTime     metav1.Duration   `json:"listTime"`
	DrainTime    metav1.Duration   `json:"drainTime"`
	ShutdownTime metav1.Duration   `json:"shutdownTime"`
	OnceKeep     metav1.Duration   `json:"onceKeep"`
	CallerRate   float64           `json:"callerRate"`
	CallerBurst  int               `json:"callerBurst"`
	HookRate     float64           `json:"hookRate"`
	HookBurst    int               `json:"hookBurst"`
	AddressRate  float64           `json:"addressRate"`
	AddressBurst int               `json:"addressBurst"`
}

// Default is the set that holds when the config says nothing.
func Default() Set {
	return Set{
		Head: bytesOf(Head), HookBody: bytesOf(HookBody), FunctionBody: bytesOf(FunctionBody),
		HeadTime: timeOf(HeadTime), BodyTime: timeOf(BodyTime), HookTime: timeOf(HookTime), FunctionTime: timeOf(FunctionTime), ListTime: timeOf(ListTime),
		DrainTime: timeOf(DrainTime), ShutdownTime: timeOf(ShutdownTime), OnceKeep: timeOf(OnceKeep),
		CallerRate: CallerRate, CallerBurst: CallerBurst, HookRate: HookRate, HookBurst: HookBurst,
		AddressRate: AddressRate, AddressBurst: AddressBurst,
	}
}

// Check notes every limit of the set that is out of its bounds. A limit of
// zero would refuse everything, a huge one would be none.
func (s Set) Check(path string, mistakes *fault.List) {
	for name, b := range map[string]struct{ value, least, most resource.Quantity }{
		"head":         {s.Head, bytesOf(8 << 10), bytesOf(1 << 20)},
		"hookBody":     {s.HookBody, bytesOf(1 << 10), bytesOf(32 << 20)},
		"functionBody": {s.FunctionBody, bytesOf(1 << 10), bytesOf(32 << 20)},
	} {
		if b.value.Cmp(b.least) < 0 || b.value.Cmp(b.most) > 0 {
			mistakes.Add(path+"."+name, "must be from %s to %s", b.least.String(), b.most.String())
		}
	}
	if d := s.DrainTime.Duration; d < 0 || d > time.Minute {
		mistakes.Add(path+".drainTime", "must be from 0s to %s", time.Minute)
	}
	for name, t := range map[string]struct {
		value metav1.Duration
		most  time.Duration
	}{
		"headTime": {s.HeadTime, time.Minute}, "bodyTime": {s.BodyTime, 5 * time.Minute},
		"hookTime": {s.HookTime, time.Minute}, "functionTime": {s.FunctionTime, time.Minute},
		"listTime": {s.ListTime, 5 * time.Minute}, "shutdownTime": {s.ShutdownTime, 10 * time.Minute},
		"onceKeep": {s.OnceKeep, 90 * 24 * time.Hour},
	} {
		if t.value.Duration < 100*time.Millisecond || t.value.Duration > t.most {
			mistakes.Add(path+"."+name, "must be from 100ms to %s", t.most)
		}
	}
	const most = 100_000
	for name, value := range map[string]float64{
		"callerRate": s.CallerRate, "hookRate": s.HookRate, "addressRate": s.AddressRate,
	} {
		if value <= 0 || value > most {
			mistakes.Add(path+"."+name, "must be above 0 and at most %d a second", most)
		}
	}
	for name, value := range map[string]int{
		"callerBurst": s.CallerBurst, "hookBurst": s.HookBurst, "addressBurst": s.AddressBurst,
	} {
		if value < 1 || value > most {
			mistakes.Add(path+"."+name, "must be from 1 to %d", most)
		}
	}
}

func bytesOf(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.BinarySI) }

func timeOf(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }

package capacity

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

type quantity = resource.Quantity

// Amount is what is had or asked of the two resources that a planner plans.
// The scheduler counts in the same units.
type Amount struct{ MilliCPU, Bytes int64 }

// AmountOf reads the two resources of a list. A quantity below zero, which no
// API server takes, counts as none.
func AmountOf(list corev1.ResourceList) Amount {
	return Amount{max(0, list.Cpu().MilliValue()), max(0, list.Memory().Value())}
}

// plus adds, and stops at the largest number: an absurd request takes the whole
// node, and never wraps around to nothing.
func (a Amount) plus(b Amount) Amount {
	return Amount{saturated(a.MilliCPU, b.MilliCPU), saturated(a.Bytes, b.Bytes)}
}

// minus takes away, and stops at zero.
func (a Amount) minus(b Amount) Amount {
	return Amount{max(0, a.MilliCPU-b.MilliCPU), max(0, a.Bytes-b.Bytes)}
}

func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Cores is the processor time in cores.
func (a Amount) Cores() float64 { return sixDigits(float64(a.MilliCPU) / 1000) }

// MemoryGiB is the memory in GiB.
func (a Amount) MemoryGiB() float64 { return sixDigits(float64(a.Bytes) / (1 << 30)) }

// sixDigits ends a number where nobody can tell any more: a millionth of a GiB
// is 1 KiB.
func sixDigits(number float64) float64 { return math.Round(number*1e6) / 1e6 }

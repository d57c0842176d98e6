// Package gordotest makes the configs by which the work of a large project is
// measured.
package gordotest

import (
	"fmt"
	"strings"
)

// Light is a config of nine lines a machine.
func Light(machines int) string {
	var b strings.Builder
	b.WriteString("machines:\n")
	for i := range machines {
		fmt.Fprintf(&b, `  - name: machine-%05d
    dataset:
      type: RandomDataset
      train_start_date: 2021-03-01T00:00:00Z
      train_end_date: 2021-09-01T00:00:00Z
      tags: [FLOW.%d, TEMP.%d]
    model:
      sklearn.preprocessing.MinMaxScaler:
        feature_range: [0, 1]
`, i, i, i)
	}
	return b.String()
}

// Heavy is a config of 30 tags with fields and a model of its own a machine.
func Heavy(machines int) string {
	var b strings.Builder
	b.WriteString("machines:\n")
	for i := range machines {
		fmt.Fprintf(&b, `  - name: machine-%05d
    dataset:
      type: TimeSeriesDataset
      data_provider: {type: RandomDataProvider}
      train_start_date: 2021-03-01T00:00:00Z
      train_end_date: 2021-09-01T00:00:00Z
      tag_list:
`, i)
		for tag := range 30 {
			fmt.Fprintf(&b, "        - {name: PLANT-%d.TAG-%04d, asset: plant-%d, unit: bar}\n", i, tag, i%7)
		}
		b.WriteString(`    model:
      gordo.machine.model.anomaly.diff.DiffBasedAnomalyDetector:
        require_thresholds: true
        base_estimator:
          sklearn.compose.TransformedTargetRegressor:
            transformer: sklearn.preprocessing.MinMaxScaler
            regressor:
              sklearn.pipeline.Pipeline:
                steps:
                  - sklearn.preprocessing.MinMaxScaler
                  - gordo.machine.model.models.KerasAutoEncoder: {kind: feedforward_hourglass, epochs: 5, batch_size: 64}
`)
	}
	return b.String()
}

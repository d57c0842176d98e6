package gordo

import "strings"

// moved says where what configs once named lives now. A place may have moved
// more than once.
var moved = map[string]string{
	"TimeSeriesDataset": "gordo_core.time_series.TimeSeriesDataset",
	"RandomDataset":     "gordo_core.time_series.RandomDataset",

	"DataLakeProvider":   dataLake,
	"InfluxDataProvider": providerPackage + ".providers.InfluxDataProvider",
	"RandomDataProvider": providerPackage + ".providers.RandomDataProvider",

	"gordo_dataset.base.GordoBaseDataset":                       "gordo_core.base.GordoBaseDataset",
	"gordo_dataset.datasets.TimeSeriesDataset":                  "gordo_dataset.time_series.TimeSeriesDataset",
	"gordo_dataset.datasets.RandomDataset":                      "gordo_dataset.time_series.RandomDataset",
	"gordo_dataset.time_series.TimeSeriesDataset":               "gordo_core.time_series.TimeSeriesDataset",
	"gordo_dataset.time_series.RandomDataset":                   "gordo_core.time_series.RandomDataset",
	"gordo_dataset.data_providers.base.GordoBaseDataProvider":   providerPackage + ".base.GordoBaseDataProvider",
	"gordo_dataset.data_provider.providers.DataLakeProvider":    dataLake,
	"gordo_dataset.data_provider.providers.InfluxDataProvider":  "gordo_dataset.data_providers.providers.InfluxDataProvider",
	"gordo_dataset.data_provider.providers.RandomDataProvider":  "gordo_dataset.data_providers.providers.RandomDataProvider",
	"gordo_dataset.data_providers.providers.InfluxDataProvider": providerPackage + ".providers.InfluxDataProvider",
	"gordo_dataset.data_providers.providers.RandomDataProvider": providerPackage + ".providers.RandomDataProvider",
}

const (
	providerPackage = "gordo_core.data_providers"
	dataLake        = "gordo_dataset.data_providers.dl.providers.DataLakeProvider"
)

// located is the place of a class today, split into module and name. A name
// that has no module stays without one.
func located(path string) (module, name string) {
	for {
		next, ok := moved[path]
		if !ok {
			break
		}
		path = next
	}
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		return path[:dot], path[dot+1:]
	}
	return "", path
}

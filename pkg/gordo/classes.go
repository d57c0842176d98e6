package gordo

import "strings"

// classes are the classes that configs commonly name, by package. They are
// facts to warn by, not a list of what is allowed.
var classes = map[string]string{
	"sklearn.preprocessing":                    "Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer LabelEncoder MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler SplineTransformer StandardScaler TargetEncoder",
	"sklearn.pipeline":                         "FeatureUnion Pipeline",
	"sklearn.compose":                          "ColumnTransformer TransformedTargetRegressor",
	"sklearn.decomposition":                    "DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA LatentDirichletAllocation MiniBatchDictionaryLearning MiniBatchSparsePCA NMF PCA SparsePCA TruncatedSVD",
	"sklearn.multioutput":                      "ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain",
	"sklearn.linear_model":                     "ARDRegression BayesianRidge ElasticNet HuberRegressor Lars Lasso LassoLars LinearRegression MultiTaskElasticNet MultiTaskLasso OrthogonalMatchingPursuit RANSACRegressor Ridge SGDRegressor TheilSenRegressor",
	"sklearn.ensemble":                         "AdaBoostRegressor BaggingRegressor ExtraTreesRegressor GradientBoostingRegressor HistGradientBoostingRegressor IsolationForest RandomForestRegressor StackingRegressor VotingRegressor",
	"sklearn.neighbors":                        "KNeighborsRegressor LocalOutlierFactor NearestNeighbors RadiusNeighborsRegressor",
	"sklearn.svm":                              "LinearSVR NuSVR OneClassSVM SVR",
	"sklearn.tree":                             "DecisionTreeRegressor ExtraTreeRegressor",
	"sklearn.neural_network":                   "BernoulliRBM MLPRegressor",
	"sklearn.impute":                           "IterativeImputer KNNImputer MissingIndicator SimpleImputer",
	"sklearn.feature_selection":                "RFE RFECV SelectFromModel SelectKBest SelectPercentile SequentialFeatureSelector VarianceThreshold",
	"sklearn.model_selection":                  "GroupKFold KFold RepeatedKFold ShuffleSplit TimeSeriesSplit",
	"sklearn.dummy":                            "DummyRegressor",
	"sklearn.covariance":                       "EllipticEnvelope",
	"gordo.machine.model.models":               "KerasAutoEncoder KerasLSTMAutoEncoder KerasLSTMForecast KerasRawModelRegressor",
	"gordo.machine.model.anomaly.diff":         "DiffBasedAnomalyDetector DiffBasedKFCVAnomalyDetector",
	"gordo.machine.model.transformers.imputer": "InfImputer",
}

func knownClass(path string) bool {
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 {
		return false
	}
	for name := range strings.FieldsSeq(classes[path[:dot]]) {
		if name == path[dot+1:] {
			return true
		}
	}
	return false
}

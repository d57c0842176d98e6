package gordo

// Code names one difference between gordo and runhook. It never changes its
// meaning; docs/gordo.md says more of each.
type Code string

// What a config may be warned of. With `--strict` a warning is an error.
const (
	ListMerged      Code = "G001" // a list was merged by index, and parts of the lower one stay
	GlobalsWin      Code = "G002" // globals.dataset overrides what a machine says
	CVModeLost      Code = "G003" // globals.evaluation.cv_mode does not reach a machine without an evaluation
	ConfigMapValue  Code = "G004" // configMapKeyRef.value was taken for its name
	BuilderKey      Code = "G005" // an unknown key of the builder was left out
	LimitRaised     Code = "G006" // a limit below its request was raised
	NotAMapping     Code = "G007" // something that is no mapping stands where one is laid over another
	DatasetArgument Code = "G008" // a dataset argument that gordo does not know was kept
	ModelUnchecked  Code = "G009" // a class of the model is not known here, and is not imported
	ProviderUnknown Code = "G010" // a data provider is not known here: its arguments are not checked
	TagsSplit       Code = "G011" // a text as tag list is split into letters
	LabelText       Code = "G012" // a label's value is no text and was written as Python writes it
	NothingMade     Code = "G013" // the split is negative: no Workflow is made
	ReferenceText   Code = "G014" // a field of an owner reference is no text and was written as one
)

// What runhook does otherwise by itself; nothing is to be written instead.
const (
	PythonRefused      Code = "G101" // tags of Python are refused
	ModelNotImported   Code = "G102" // a model is checked for its shape, never imported
	DuplicateName      Code = "G103" // two machines of one name are refused
	NameNewline        Code = "G104" // a name with a newline at its end is refused
	ResourceRefused    Code = "G105" // resources of bool, null or negative are refused
	ValueFromKept      Code = "G106" // every valueFrom of Kubernetes is kept
	VolumesKept        Code = "G107" // every volume kind of Kubernetes is kept
	EmptyFine          Code = "G108" // empty lists and maps are fine
	ArgoNotAsked       Code = "G109" // the argo program is asked only with --argo-binary
	ReportLevelWorks   Code = "G110" // exceptions_report_level works
	BuilderClassAlone  Code = "G111" // --model-builder-class works alone
	NamespaceWorks     Code = "G112" // --namespace works
	AllModelsExpected  Code = "G113" // a split project's server expects the models of all parts
	PostgresPerMachine Code = "G114" // a machine without influx gets no Postgres reporter
	FlagsWin           Code = "G115" // explicit flags win over the environment
	GroupIsNumber      Code = "G116" // runAsGroup is an integer
	ServerLabels       Code = "G117" // --server-labels land on the pods
	AllContexts        Code = "G118" // all containers get the security context
	ImageNames         Code = "G119" // image names follow --gordo-version
	ReservedLabels     Code = "G120" // labels that gordo itself sets are refused
	TextQuoted         Code = "G121" // names stay text, and nothing of a user's text is expanded
	LabelsEverywhere   Code = "G122" // --resources-labels land on every pod
	ResourceTemplates  Code = "G123" // applying and deleting are Argo resource templates
	MachineTooLarge    Code = "G124" // a machine beyond the kernel's limit is refused
	DateRefused        Code = "G125" // a date that JSON can't hold is refused when the config is read
	SubmittedName      Code = "G126" // a submitted Workflow has a name instead of a generateName
	EqualTime          Code = "G127" // of two revisions made in one second the lower one gives way
	TaskNames          Code = "G128" // a dot in a machine's name is a dash in the names of tasks
	ArgoText           Code = "G129" // a field that stands in a template must not hold {{
	CanonicalAmounts   Code = "G130" // amounts of resources are written in their canonical form
)

// Codes lists every code.
var Codes = []Code{
	ListMerged, GlobalsWin, CVModeLost, ConfigMapValue, BuilderKey, LimitRaised, NotAMapping, DatasetArgument,
	ModelUnchecked, ProviderUnknown, TagsSplit, LabelText, NothingMade, ReferenceText,
	PythonRefused, ModelNotImported, DuplicateName, NameNewline, ResourceRefused, ValueFromKept, VolumesKept,
	EmptyFine, ArgoNotAsked, ReportLevelWorks, BuilderClassAlone, NamespaceWorks, AllModelsExpected,
	PostgresPerMachine, FlagsWin, GroupIsNumber, ServerLabels, AllContexts, ImageNames, ReservedLabels, TextQuoted,
	LabelsEverywhere, ResourceTemplates, MachineTooLarge, DateRefused, SubmittedName, EqualTime, TaskNames, ArgoText, CanonicalAmounts,
}

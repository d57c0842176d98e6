package hook

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/runhook/runhook/pkg/limits"
)

// expression is a compiled CEL expression of a route.
type expression struct {
	program cel.Program
	kind    *cel.Type // what it gives, as far as is known before it runs
}

// vars are what an expression sees: event, payload and, with select, run.
type vars map[string]any

func newVars(event *Event, payload object) vars {
	return vars{"event": event, "payload": map[string]any(payload)}
}

// environment declares what expressions may use. Events are typed, so that a
// slip of the pen is found when the config is read; payloads are their host's.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		ext.NativeTypes(reflect.TypeFor[Event](), ext.ParseStructTag("json")),
		ext.Strings(),
		cel.Variable("event", cel.ObjectType("hook.Event")),
		cel.Variable("payload", cel.MapType(cel.StringType, cel.DynType)),
	)
})

var selecting = sync.OnceValues(func() (*cel.Env, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	return env.Extend(cel.Variable("run", cel.MapType(cel.StringType, cel.DynType)), cel.ASTValidators(runFields{}))
})

// compileExpression checks an expression's grammar, names and types.
func compileExpression(source string, environment func() (*cel.Env, error)) (expression, error) {
	env, err := environment()
	if err != nil {
		return expression{}, err
	}
	ast, issues := env.Compile(source)
	if err := issues.Err(); err != nil {
		return expression{}, fmt.Errorf("not a CEL expression: %s", firstIssue(issues))
	}
	program, err := env.Program(ast, cel.CostLimit(limits.CELCost))
	if err != nil {
		return expression{}, fmt.Errorf("not a CEL expression: %w", err)
	}
	return expression{program, ast.OutputType()}, nil
}

// firstIssue is the first mistake without the picture of the line beneath it.
func firstIssue(issues *cel.Issues) string {
	first := issues.Errors()[0]
	return fmt.Sprintf("%s (line %d, column %d)", first.Message, first.Location.Line(), first.Location.Column()+1)
}

// gives reports whether the expression gives a type, or one known only when it runs.
func (x expression) gives(kind *cel.Type) bool {
	return x.kind.Kind() == types.DynKind || x.kind.IsExactType(kind)
}

// value runs the expression and gives its value as JSON has it.
func (x expression) value(v vars) (any, error) {
	out, _, err := x.program.Eval(map[string]any(v))
	if err != nil {
		return nil, err
	}
	return jsonValue(out)
}

// truth runs a condition.
func (x expression) truth(v vars) (bool, error) {
	value, err := x.value(v)
	if err != nil {
		return false, err
	}
	truth, ok := value.(bool)
	if !ok {
		return false, errors.New("the condition is neither true nor false")
	}
	return truth, nil
}

// text runs an expression whose value must be a text.
func (x expression) text(v vars) (string, error) {
	value, err := x.value(v)
	if err != nil {
		return "", err
	}
	text, ok := value.(string)
	if !ok {
		return "", errors.New("the value is not a text")
	}
	return text, nil
}

// jsonValue turns a value of CEL into one that encodes as JSON, whole numbers
// with all their digits.
func jsonValue(value ref.Val) (any, error) {
	switch v := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return uint64(v), nil
	case types.Double:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
		return nil, errors.New("JSON has no such number")
	case types.String:
		return strings.ToValidUTF8(string(v), "\uFFFD"), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339Nano), nil
	case types.Duration:
		return v.Duration.String(), nil
	case traits.Mapper:
		return jsonObject(v)
	case traits.Lister:
		return jsonList(v)
	}
	if event := reflect.Indirect(reflect.ValueOf(value.Value())); event.IsValid() && event.Kind() == reflect.Struct {
		return throughJSON(event.Interface())
	}
	return nil, fmt.Errorf("JSON has no %s", value.Type().TypeName())
}

func jsonList(list traits.Lister) (any, error) {
	values := []any{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		value, err := jsonValue(it.Next())
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func jsonObject(fields traits.Mapper) (any, error) {
	values := map[string]any{}
	for it := fields.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, errors.New("JSON has texts as keys only")
		}
		value, err := jsonValue(fields.Get(key))
		if err != nil {
			return nil, err
		}
		values[string(name)] = value
	}
	return values, nil
}

func throughJSON(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return parseObject(data)
}

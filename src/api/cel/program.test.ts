import { describe, expect, test } from "vitest";
import { CelBudgetError, CelCompileError, CelEvaluationError } from "./cel-error.ts";
import { jsonToValue } from "./cel-json-value.ts";
import {
  AUTHORIZER_TYPE,
  authorizerValue,
  RESOURCE_CHECK_TYPE,
  resourceCheckValue,
} from "./library/authorizer-library.ts";
import { CALL_BUDGET, compileCel } from "./program.ts";
import { DYN, INT, listOf, namedType, objectType, STRING } from "./type.ts";
import type { CelValue } from "./value.ts";

function evaluate(source: string): CelValue {
  return compileCel(source, { variables: new Map() }).evaluate({}, { budget: CALL_BUDGET });
}

describe("an expression with Kubernetes' libraries is true", () => {
  test.each([
    "[1, 2, 2].isSorted() && ![2, 1].isSorted()",
    "[1, 2, 3].sum() == 6 && [1.5, 2.0].sum() == 3.5 && ['b', 'a'].min() == 'a' && [3, 5].max() == 5",
    "dyn([]).sum() == 0 && dyn([1, 2]).sum() == 3 && dyn([1.5, 2.0]).sum() == 3.5",
    "['a', 'b', 'a'].indexOf('a') == 0 && ['a', 'b', 'a'].lastIndexOf('a') == 2 && [1].indexOf(2) == -1",
    "'abc'.indexOf('c', 3) == -1 && 'abc'.indexOf('c', 9) == -1 && 'abc'.lastIndexOf('c', 3) == -1",
    "'abc'.indexOf('', 9) == 9 && 'abc'.lastIndexOf('', 9) == 9 && 'abc'.lastIndexOf('') == 3",
    "'abc'.lastIndexOf('c', 2) == 2 && 'abc'.lastIndexOf('abcd', 2) == -1 && 'abc'.indexOf('b', 1) == 1",
    `true${" == true".repeat(250)}`,
    `true${" && true".repeat(600)}`,
    "sets.contains([1, 2], [2]) && sets.equivalent([1, 1, 2], [2, 1]) && !sets.intersects([1], [2])",
    "[1, 2, 3, 4].slice(1, 3) == [2, 3] && [1, 2].slice(0, 0) == [] && [3, 1, 2].reverse() == [2, 1, 3]",
    "[[1, 2], [3]].flatten() == [1, 2, 3] && [dyn(1), dyn([dyn(2), dyn([dyn(3), dyn([4])])])].flatten(2) == [1, 2, 3].map(x, dyn(x)) + [dyn([4])] && [[1]].flatten(0) == [[1]]",
    "[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b'] && [1, 2, 1, 3, 2].distinct() == [1, 2, 3]",
    "[['a', 'z'], ['b', 'x'], ['c', 'x']].sortBy(x, x[1]).map(x, x[0]) == ['b', 'c', 'a']",
    "lists.range(4) == [0, 1, 2, 3] && lists.range(0) == [] && ['aa', 'b'].sortBy(x, size(x)) == ['b', 'aa']",
    "[1, 2].first().value() == 1 && [1, 2].last().value() == 2 && !dyn([]).first().hasValue() && ![].last().hasValue()",
    "{'a': 1, 'b': 2}.exists_one(k, v, v > 1) && [1, 2].exists_one(i, v, i == 0)",
    "'ab'.replace('', '-') == '-a-b-' && 'ab'.replace('', '-', 2) == '-a-b' && ''.replace('', '-') == '-'",
    "{'a': 1, 'a': 2} == {'a': 2}",
    "string(cidr('10.0.0.1/8')) == '10.0.0.1/8' && cidr('10.0.0.1/8') != cidr('10.0.0.0/8')",
    "url('https://a/?x=1&y=%zz&z=3').getQuery() == {'x': ['1'], 'z': ['3']} && url('https://a/?x=1;y=2').getQuery() == {}",
    "url('https://a/?x=a+b%20c&x').getQuery() == {'x': ['a b c', '']}",
    "url('https://a/??x=1&?y=2').getQuery() == {'?x': ['1'], '?y': ['2']}",
    "bool('T') && !bool('F')",
    "string(duration('2562047h47m16.854775807s')) == '9223372036.854776s' && string(duration('1ns')) == '0.000000001s'",
    "string(duration('-90m')) == '-5400s' && string(duration('0s')) == '0s' && string(duration('1.5s')) == '1.5s'",
    "quantity('1Gi').asInteger() == 1073741824 && quantity('1.5k').asInteger() == 1500 && quantity('1e3').isInteger()",
    // Go reports integers only for amounts of few digits, and does not check whether a fraction is one.
    "!quantity('1.0').isInteger() && !quantity('1.5Gi').isInteger() && !quantity('1Pi').isInteger() && !quantity('1000m').isInteger()",
    "quantity('1k').add(1).asInteger() == 1001 && !quantity('500m').add(quantity('500m')).isInteger()",
    "quantity('1Ti').isInteger() && !quantity('9223372036854775807').isInteger() && quantity('0').sub(5).asInteger() == -5",
    "'abc 123'.find('[0-9]+') == '123' && '1 2 3'.findAll('[0-9]') == ['1', '2', '3']",
    "'1 2 3'.findAll('[0-9]', 2).size() == 2 && 'abc'.matches('^a.c$')",
    "url('https://example.com:80/a/b?x=1&x=2').getHost() == 'example.com:80'",
    "url('https://[::1]:80/a').getHostname() == '::1' && url('https://a:80/').getPort() == '80'",
    "url('https://example.com/a?x=1&x=2').getQuery() == {'x': ['1', '2']} && url('/a b').getEscapedPath() == '/a%20b'",
    "url('https://a.b/c?x=1#d').getQuery() == {'x': ['1']} && url('https://a.b/c#d?x=1').getEscapedPath() == '/c'",
    "isURL('https://a.b') && isURL('/abs') && !isURL('rel/path') && !isURL('../up')",
    "isURL('mailto:a@b') && url('mailto:a@b').getEscapedPath() == '' && url('//a.b/c').getHost() == 'a.b'",
    "ip('192.168.0.1').family() == 4 && ip('::1').isLoopback() && !isIP('1.2.3') && ip.isCanonical('::1')",
    "ip('8.8.8.8').isGlobalUnicast() && ip('169.254.1.1').isLinkLocalUnicast() && ip('0.0.0.0').isUnspecified()",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))",
    "type(ip('10.0.0.1')) == net.IP && type(cidr('10.0.0.0/8')) == net.CIDR && type(cidr('10.0.0.0/8').ip()) == net.IP",
    "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.0/8').prefixLength() == 8 && !isCIDR('10.0.0.0')",
    "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').add(quantity('500m')).compareTo(quantity('1.5')) == 0",
    "quantity('5').asInteger() == 5 && !quantity('1.5').isInteger() && sign(quantity('-1')) == -1 && sign(quantity('0')) == 0 && !isQuantity('x')",
    "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
    "semver('v1.2', true).minor() == 2 && !isSemver('v1.2') && isSemver('v1.2', true)",
    "!format.dns1123Label().validate('good-name').hasValue() && format.dns1123Label().validate('Bad').hasValue()",
    "format.named('uuid').hasValue() && !format.named('nothing').hasValue()",
    "timestamp('2026-01-02T03:04:05Z').getHours('Europe/Berlin') == 4",
    "string(timestamp('2011-08-18T19:03:37.01+01:00')) == '2011-08-18T19:03:37.01+01:00'",
    "string(timestamp('2011-08-18T23:30:00-02:30') + duration('1h')) == '2011-08-19T00:30:00-02:30'",
    "string(timestamp('2011-08-18T19:03:37+00:00')) == '2011-08-18T19:03:37Z'",
    "!optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue() && optional.ofNonZeroValue(timestamp(0)).hasValue()",
    "!has(dyn(null).a) && !has(dyn('a').b)",
    "duration('1h2m3s4ms').getMilliseconds() == 3723004",
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && [1, 2].transformList(i, v, i + v) == [1, 3]",
    "[1, 2].transformMapEntry(i, v, {v: i}) == {1: 0, 2: 1} && optional.of(1).optMap(x, x + 1).orValue(0) == 2",
  ])("%s", (source) => {
    expect(evaluate(source)).toBe(true);
  });
});

describe("an invalid expression is refused", () => {
  test.each([
    ["1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting"],
    ["1 = 2", "ERROR: <input>:1:3: Syntax error: token recognition error at: '= '"],
    ["true &true", "ERROR: <input>:1:6: Syntax error: token recognition error at: '&t'"],
    ["1 $ 2", "ERROR: <input>:1:3: Syntax error: token recognition error at: '$'"],
    ["1 == 'abc", "ERROR: <input>:1:6: Syntax error: token recognition error at: ''abc'"],
    [
      "'a'.nothing()",
      "ERROR: <input>:1:12: undeclared reference to 'nothing' (in container '')\n | 'a'.nothing()\n | ...........^",
    ],
    ["[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'"],
    ["'a'.matches('(')", "ERROR: <input>:1:13: invalid matches argument"],
    ["'a'.find(')')", "ERROR: <input>:1:10: invalid find argument"],
    ["'a'.findAll('(', 1)", "ERROR: <input>:1:13: invalid findAll argument"],
    ["duration('soon')", "ERROR: <input>:1:10: invalid duration argument"],
    ["{'a': 1}.sortBy(x, x)", "found no matching overload for '@sortByAssociatedKeys'"],
    ["[1].sortBy(x, [x])", "found no matching overload for '@sortByAssociatedKeys'"],
    ["'ab'.slice(0, 1)", "found no matching overload for 'slice' applied to 'string.(int, int)'"],
    [
      `"%d".format([1.5])`,
      "1:14: error during formatting: decimal clause can only be used on integers, was given double",
    ],
    [`"%f".format([1])`, "fixed-point clause can only be used on doubles, was given int"],
    [`"%b".format(["a"])`, "only integers and bools can be formatted as binary, was given string"],
    [`"%s".format([[ip("1.2.3.4")]])`, "string clause can only be used on strings, bools, bytes, ints"],
    [`"%s %s".format(["a"])`, "1:15: index 1 out of range"],
    [`"%s".format(["a", 1])`, "1:12: too many arguments supplied to string.format (expected 1, got 2)"],
    [`"%q".format(["a"])`, `could not parse formatting clause: unrecognized formatting clause "q"`],
    [`"%.f".format([1.5])`, "could not parse formatting clause: error while parsing precision"],
    [`"%".format(["a"])`, "unexpected end of string"],
    [
      "quantity('1').sign() == 1",
      "found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'",
    ],
    ["'abc'.reverse()", "found no matching overload for 'reverse' applied to 'string.()'"],
    ["base64.encode(b'hi')", "undeclared reference to 'base64'"],
    ["math.greatest(1, 2)", "undeclared reference to 'math'"],
    ["cel.bind(x, 1, x)", "undeclared reference to 'bind'"],
    ["jsonpatch.escapeKey('a')", "undeclared reference to 'jsonpatch'"],
    ["int('x') > 0", "type conversion error from 'string' to 'int'"],
    ["[1].all(x, x > int(string('x')))", "type conversion error from 'string' to 'int'"],
    ["uint(-1) > 0u", "unsigned integer overflow"],
    ["string(b'\\xff') == ''", "invalid UTF-8 in bytes, cannot convert to string"],
    ["timestamp(253402300800)", "ERROR: <input>:1:11: invalid timestamp argument"],
    ["1.all(x, true)", "cannot be range of a comprehension"],
    ["if", "reserved identifier: if"],
    [`${"(".repeat(300)}1${")".repeat(300)}`, "expression recursion limit exceeded: 250"],
    [`1${" + 1".repeat(5000)}`, "max recursion depth exceeded"],
    [`true${" == true".repeat(251)}`, "ERROR: <input>:-1:0: max recursion depth exceeded"],
    ["'".padEnd(100_001, "a"), "expression code point size exceeds limit"],
  ])("%.40s", (source, message) => {
    expect(() => evaluate(source)).toThrow(CelCompileError);
    expect(() => evaluate(source)).toThrow(message);
  });
});

describe("a budget", () => {
  const variables = new Map([["list", listOf(INT)]]);
  const list = jsonToValue(
    listOf(INT),
    Array.from({ length: 1000 }, (_, at) => at),
  );

  test.each([
    "list.all(a, list.all(b, list.all(c, true)))",
    "list.exists(a, list.exists(b, list[5000] == 1 || false))",
    "list.map(a, list.map(b, list)).size() > 0 && list.all(a, list.map(b, list.map(c, c)).size() > 0)",
    "list.all(a, list.all(b, string(a) + 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' != ''))",
    "list.all(a, list.all(b, sets.equivalent(list, list)))",
    "lists.range(9223372036854775807).size() > 0",
    "list.all(a, list.distinct().size() > 0 && list.all(b, list.sortBy(x, -x).size() > 0))",
    "'aaaaaaaaaa'.replace('a', 'b'.replace('', 'cccccccccccccccccccc'), 5).size() > 0 && list.all(a, list.all(b, list == list))",
  ])("ends %s", (source) => {
    const program = compileCel(source, { variables });

    expect(() => program.evaluate({ list }, { budget: CALL_BUDGET })).toThrow(CelBudgetError);
  });

  test("is not absorbed by an alternative", () => {
    const program = compileCel("list.all(a, list.all(b, a + b >= 0)) || true", { variables });

    expect(() => program.evaluate({ list }, { budget: 1000 })).toThrow(CelBudgetError);
  });
});

test.each([
  [`"%s".format([["a", "b\\"c"]])`, `["a", "b\\"c"]`],
  [`"%s".format([{"b": 1, "a": {"n": true}}])`, `{"a":{"n":true}, "b":1}`],
  [`"%s".format([[1.5, 2.0, 1e10]])`, "[1.500000, 2.000000, 10000000000.000000]"],
  [
    `"%s".format([[duration("1h"), timestamp("2024-01-01T00:00:00Z"), b"x", null, type(1), 1u]])`,
    `[duration("3600s"), timestamp("2024-01-01T00:00:00Z"), b"x", null, int, 1]`,
  ],
  [`"%s %s %s".format([1e10, double("inf"), double("-inf")])`, "1e+10 +Inf -Inf"],
  [
    `"%f %.2f %.0f %f".format([1234567.0, -1234.567, 2.5, 1e21])`,
    "1,234,567.000000 -1,234.57 2 1,000,000,000,000,000,000,000.000000",
  ],
  [`"%f %f %f".format(["Infinity", "-Infinity", "NaN"])`, "∞ -∞ NaN"],
  [`"%e %.2e %e".format([1234.5, 0.00001234, 1e100])`, "1.234500×10⁰³ 1.234000×10⁻⁰⁵ 1.000000×10¹⁰⁰"],
  [`"%d %x %X %o %b %b %%".format([-5, 255, "hi", 8, 5, true])`, "-5 ff 6869 10 101 1 %"],
])("%s is %s", (source, text) => {
  expect(evaluate(source)).toBe(text);
});

test.each([
  ["[dyn('x')].map(t, int(t))", "type conversion error from 'string' to 'int'"],
  ["[dyn('+1')].map(t, uint(t))", "type conversion error from 'string' to 'uint'"],
  ["[dyn('1e400')].map(t, double(t))", "type conversion error from 'string' to 'double'"],
  ["[dyn('x')].map(t, duration(t))", "type conversion error from 'string' to 'google.protobuf.Duration'"],
  ["[1e30].map(d, int(d))", "integer overflow"],
  ["[-1].map(i, uint(i))", "unsigned integer overflow"],
  ["[1, 2].transformMapEntry(i, v, {'k': v})", "insert failed: key k already exists"],
  ["ip('::ffff:1.2.3.4')", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
  ["ip('fe80::1%eth0')", 'IP address "fe80::1%eth0" with zone value is not allowed'],
  [
    "cidr('::ffff:1.2.3.4/120')",
    'network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:1.2.3.4/120" is not allowed',
  ],
  ["quantity('1Pi').asInteger()", "cannot convert value to integer"],
  ["[1].slice(0, 2)", "cannot slice(0, 2), list is length 1"],
  ["[1].slice(-1, 1)", "cannot slice(-1, 1), negative indexes not supported"],
  ["[1, 2].slice(2, 1)", "cannot slice(2, 1), start index must be less than or equal to end index"],
  ["[[1]].flatten(-1)", "level must be non-negative"],
  ["lists.range(-1)", "lists.range: size must be non-negative, got -1"],
  ["[dyn(1), dyn('a')].sortBy(x, x)", "list elements must have the same type"],
  ["[dyn([1])].sortBy(x, x)", "list elements must be comparable"],
])("%s has no value", (source, message) => {
  expect(() => evaluate(source)).toThrow(new CelEvaluationError(message));
});

test("a deciding side of an alternative hides an error on the other side", () => {
  expect(evaluate("1 / 0 > 1 || true")).toBe(true);
  expect(evaluate("[1, 0].exists(x, 1 / x == 1)")).toBe(true);
  expect(() => evaluate("1 / 0 > 1 || false")).toThrow(CelEvaluationError);
});

test("JSON integers are exact, and inherited properties are not fields", () => {
  const variables = new Map([["self", DYN]]);
  const self = jsonToValue(DYN, { big: 9_007_199_254_740_993n, ["__proto__x"]: 1 });
  const run = (source: string): CelValue =>
    compileCel(source, { variables }).evaluate({ self }, { budget: CALL_BUDGET });

  expect(run("self.big == 9007199254740993")).toBe(true);
  expect(run("has(self.constructor) || has(self.toString)")).toBe(false);
});

test("an expression constructs objects of declared types only", () => {
  const fields = new Map([["op", STRING]]);
  const patch = objectType("JSONPatch", {
    find: (jsonName) => {
      const type = fields.get(jsonName);
      return type === undefined ? undefined : { type, jsonName };
    },
    names: fields.keys(),
  });
  const declarations = { variables: new Map(), structs: new Map([["JSONPatch", patch]]) };

  const program = compileCel("JSONPatch{op: 'add'}.op == 'add'", declarations);

  const escape = compileCel("jsonpatch.escapeKey('a/b~c') == 'a~1b~0c'", declarations);

  expect(program.evaluate({}, { budget: CALL_BUDGET })).toBe(true);
  expect(escape.evaluate({}, { budget: CALL_BUDGET })).toBe(true);
  expect(() => compileCel("JSONPatch{path: 'a'}", declarations)).toThrow("undefined field 'path'");
  expect(() => compileCel("Other{}", declarations)).toThrow("undeclared reference to 'Other'");
});

test.each([
  ["authorizer.path(' ').check('get').allowed()", "path must not be empty"],
  ["authorizer.group('').resource('').check('get').allowed()", "resource must not be empty"],
  [
    "authorizer.serviceAccount('a b', 'c').path('/').check('get').allowed()",
    "Invalid service account namespace",
  ],
  ["authorizer.serviceAccount('a', 'B').path('/').check('get').allowed()", "Invalid service account name"],
])("the authorizer does not ask %s", (source, message) => {
  const variables = new Map([["authorizer", namedType(AUTHORIZER_TYPE)]]);
  const authorizer = authorizerValue({ decide: () => ({ isAllowed: true, reason: "" }) });
  const program = compileCel(source, { variables });

  expect(() => program.evaluate({ authorizer }, { budget: CALL_BUDGET })).toThrow(
    new CelEvaluationError(message),
  );
});

test("the authorizer passes the expression's check to its decider", () => {
  const asked: unknown[] = [];
  const decider = {
    decide: (question: unknown) => {
      asked.push(question);
      return { isAllowed: true, reason: "because" };
    },
  };
  const variables = new Map([
    ["authorizer", namedType(AUTHORIZER_TYPE)],
    ["authorizer.requestResource", namedType(RESOURCE_CHECK_TYPE)],
  ]);
  const bindings = {
    authorizer: authorizerValue(decider),
    "authorizer.requestResource": resourceCheckValue(decider, { resource: "pods", namespace: "a" }),
  };
  const program = compileCel(
    "authorizer.group('apps').resource('deployments').namespace('b').check('get').allowed() && authorizer.requestResource.check('delete').reason() == 'because'",
    { variables },
  );

  expect(program.evaluate(bindings, { budget: CALL_BUDGET })).toBe(true);
  expect(asked).toMatchObject([
    { group: "apps", resource: "deployments", namespace: "b", verb: "get" },
    { resource: "pods", namespace: "a", verb: "delete" },
  ]);
});

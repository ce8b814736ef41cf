// Every function of the library, by table.
#include <gtest/gtest.h>

#include "openapi/cel/authorizer.h"
#include "openapi/cel/program.h"
#include "openapi/cel/test_eval.h"
#include "storage/object/limits.h"

namespace mailroom::cel {
namespace {

TEST(CelStrings, StandardFunctions) {
  Expect({{"'hello'.contains('ell')", "true"},
          {"'hello'.startsWith('he')", "true"},
          {"'hello'.endsWith('lo')", "true"},
          {"'hello'.matches('^h.*o$')", "true"},
          {"matches('hello', 'x')", "false"},
          {"'a'.matches(dyn('('))", "error: error parsing regexp: missing closing ): `(`"},
          {"size('h\u00e9llo')", "5"},
          {"'abc'.size()", "3"}});
}

TEST(CelStrings, Extensions) {
  Expect({{"'h\u00e9llo'.charAt(1)", "\"\u00e9\""},
          {"'abc'.charAt(3)", "\"\""},
          {"'abc'.charAt(4)", "error: index out of range: 4"},
          {"'abc'.charAt(-1)", "error: index out of range: -1"},
          {"'h\u00e9llo'.indexOf('l')", "2"},
          {"'hello'.indexOf('l', 3)", "3"},
          {"'hello'.indexOf('x')", "-1"},
          {"'hello'.indexOf('')", "0"},
          {"'hello'.indexOf('l', -1)", "error: index out of range: -1"},
          {"'hello'.lastIndexOf('l')", "3"},
          {"'hello'.lastIndexOf('l', 2)", "2"},
          {"'hello'.lastIndexOf('')", "5"},
          {"'hello'.lastIndexOf('hello world')", "-1"},
          {"'HeLLo\u00c9'.lowerAscii()", "\"hello\u00c9\""},
          {"'hello'.upperAscii()", "\"HELLO\""},
          {"'aXbX'.replace('X', '-')", "\"a-b-\""},
          {"'aXbX'.replace('X', '-', 1)", "\"a-bX\""},
          {"'aXbX'.replace('X', '-', 0)", "\"aXbX\""},
          {"'ab'.replace('', '-')", "\"-a-b-\""},
          {"'a,b,c'.split(',')", "[\"a\",\"b\",\"c\"]"},
          {"'a,b,c'.split(',', 2)", "[\"a\",\"b,c\"]"},
          {"'a,b,c'.split(',', 0)", "[]"},
          {"'ab'.split('')", "[\"a\",\"b\"]"},
          {"''.split('')", "[]"},
          {"''.split(',')", "[\"\"]"},
          {"'hello'.substring(2)", "\"llo\""},
          {"'hello'.substring(1, 3)", "\"el\""},
          {"'hello'.substring(5)", "\"\""},
          {"'hello'.substring(6)", "error: index out of range: 6"},
          {"'hello'.substring(3, 1)", "error: invalid substring range. start: 3, end: 1"},
          {"' \\t hi \\u00a0\\n'.trim()", "\"hi\""},
          {"['a', 'b'].join()", "\"ab\""},
          {"['a', 'b'].join('-')", "\"a-b\""},
          {"[].join('-')", "\"\""},
          {"strings.quote('a\\n\"b')", R"("\"a\\n\\\"b\"")"}});
}

TEST(CelStrings, Format) {
  Expect({{"'%s is %d'.format([dyn('x'), 3])", "\"x is 3\""},
          {"'%s'.format([[dyn(1), 'a', {'k': 2.5}]])", R"("[1, \"a\", {\"k\":2.5}]")"},
          {"'%s %s'.format([dyn(true), null])", "\"true null\""},
          {"'%s %d %s'.format(['a', 1, [1, 'b']])", R"("a 1 [1, \"b\"]")"},
          {"'%s'.format([duration('90s')])", "\"90s\""},
          {"'%s'.format([timestamp('2020-01-02T03:04:05Z')])", "\"2020-01-02T03:04:05Z\""},
          {"'%s'.format([type(1)])", "\"int\""},
          {"'%x %X %o %b'.format([255, 255, 8, 5])", "\"ff FF 10 101\""},
          {"'%x'.format(['hi'])", "\"6869\""},
          {"'%.2f'.format([3.14159])", "\"3.14\""},
          {"'%f'.format([2.5])", "\"2.500000\""},
          {"'%.3e'.format([1052.032911275])", "\"1.052 \u00d7 10\u2070\u00b3\""},
          {"'%%'.format([])", "\"%\""},
          {"'%d'.format([-5])", "\"-5\""},
          {"'%s'.format([])", "error: index 0 out of range"},
          {"'%d'.format(['a'])",
           "error: error during formatting: decimal clause can only be used on integers, was "
           "given string"},
          {"'%z'.format([1])",
           "error: could not parse formatting clause: unrecognized formatting clause \"z\""},
          {"'%.101f'.format([1.0])",
           "error: precision 101 exceeds maximum allowed precision 100"},
          {"'%'.format([1])", "error: unexpected end of string"}});
}

TEST(CelRegex, FindAndFindAll) {
  Expect({{"'abc 123'.find('[0-9]+')", "\"123\""},
          {"'abc'.find('[0-9]+')", "\"\""},
          {"'123 abc 456'.findAll('[0-9]+')", "[\"123\",\"456\"]"},
          {"'123 abc 456'.findAll('[0-9]+', 1)", "[\"123\"]"},
          {"'123'.findAll('[0-9]', 0)", "[]"},
          {"'abc'.findAll('x*')", "[\"\",\"\",\"\",\"\"]"},
          {"'a'.find(dyn('['))", "error: error parsing regexp: missing closing ]: `[`"}});
  // A pattern that would need exponential time elsewhere.
  EXPECT_EQ(Eval("('a' + 'a'.replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'))"
                 ".matches('^(a+)+$')"),
            "true");
}

TEST(CelLists, Functions) {
  Expect({{"[1, 2, 3].isSorted()", "true"},
          {"['b', 'a'].isSorted()", "false"},
          {"[1, 2, 3].sum()", "6"},
          {"[1.5, 2.0].sum()", "3.5"},
          {"[1u, 2u].sum()", "3u"},
          {"[duration('1s'), duration('2s')].sum() == duration('3s')", "true"},
          {"[].sum()", "0"},
          {"[9223372036854775807, 1].sum()", "error: integer overflow"},
          {"[3, 1, 2].max()", "3"},
          {"['b', 'a'].min()", "\"a\""},
          {"[1].filter(x, false).min()", "error: min called on empty list"},
          {"[1].filter(x, false).max()", "error: max called on empty list"},
          {"[1, 2, 1].indexOf(1)", "0"},
          {"[1, 2, 1].lastIndexOf(1)", "2"},
          {"[1, 2].indexOf(3)", "-1"},
          {"[1, 2, 3, 4].slice(1, 3)", "[2,3]"},
          {"[1].slice(0, 2)", "error: cannot slice(0, 2), list is length 1"},
          {"[1].slice(-1, 0)", "error: cannot slice(-1, 0), negative indexes not supported"},
          {"[1].slice(1, 0)",
           "error: cannot slice(1, 0), start index must be less than or equal to end index"},
          {"[[1], [2, 3]].flatten()", "[1,2,3]"},
          {"[dyn(1), dyn([dyn(2), dyn([3])])].flatten(2)", "[1,2,3]"},
          {"lists.range(3)", "[0,1,2]"},
          {"[1, 2].reverse()", "[2,1]"},
          {"[1, 2, 1, 2.0 == 2.0 ? 2 : 3].distinct()", "[1,2]"},
          {"[3, 1, 2].sort()", "[1,2,3]"},
          {"['b', 'a'].sort()", "[\"a\",\"b\"]"}});
}

TEST(CelSets, Functions) {
  Expect({{"sets.contains([1, 2, 3], [1, 3])", "true"},
          {"sets.contains([1], [2])", "false"},
          {"sets.contains([1], [])", "true"},
          {"sets.equivalent([1, 1, 2], [2, 1])", "true"},
          {"sets.equivalent([1], [1, 2])", "false"},
          {"sets.intersects([1, 2], [2, 3])", "true"},
          {"sets.intersects([1], [2])", "false"}});
}

TEST(CelTime, Accessors) {
  Expect({{"timestamp('2021-03-04T05:06:07.089Z').getFullYear()", "2021"},
          {"timestamp('2021-03-04T05:06:07Z').getMonth()", "2"},
          {"timestamp('2021-03-04T05:06:07Z').getDate()", "4"},
          {"timestamp('2021-03-04T05:06:07Z').getDayOfMonth()", "3"},
          {"timestamp('2020-12-31T00:00:00Z').getDayOfYear()", "365"},
          {"timestamp('2021-03-04T05:06:07Z').getDayOfWeek()", "4"},
          {"timestamp('2021-03-04T05:06:07Z').getHours()", "5"},
          {"timestamp('2021-03-04T23:06:07Z').getHours('+02:00')", "1"},
          {"timestamp('2021-03-04T05:06:07Z').getMinutes()", "6"},
          {"timestamp('2021-01-01T12:00:00Z').getHours('America/New_York')", "7"},
          {"timestamp('2021-07-01T12:00:00Z').getHours('America/New_York')", "8"},
          {"timestamp('2021-07-01T12:00:00Z').getMinutes('Asia/Kolkata')", "30"},
          {"timestamp('2021-07-01T12:00:00Z').getHours('UTC')", "12"},
          {"timestamp('2021-07-01T12:00:00Z').getHours('Mars/Olympus')",
           "error: unknown time zone Mars/Olympus"},
          {"timestamp('2021-07-01T12:00:00Z').getHours('America/../../../etc/passwd')",
           "error: unknown time zone America/../../../etc/passwd"},
          {"timestamp('2021-03-04T05:06:07Z').getSeconds()", "7"},
          {"timestamp('2021-03-04T05:06:07.089Z').getMilliseconds()", "89"},
          {"timestamp('2021-03-04T05:06:07+01:00') == timestamp('2021-03-04T04:06:07Z')", "true"},
          {"timestamp('1969-12-31T23:59:59Z').getDayOfWeek()", "3"},
          {"duration('3700s').getHours()", "1"},
          {"duration('3700s').getMinutes()", "61"},
          {"duration('1.5s').getSeconds()", "1"},
          {"duration('1.5s').getMilliseconds()", "1500"},
          {"timestamp('2021-01-01T00:00:00Z') + duration('1h') == "
           "timestamp('2021-01-01T01:00:00Z')", "true"},
          {"timestamp('2021-01-01T01:00:00Z') - timestamp('2021-01-01T00:00:00Z')",
           "\"3600s\""},
          {"timestamp('9999-12-31T23:59:59Z') + duration('1h')", "error: timestamp overflow"},
          {"duration('2562047h') + duration('2562047h')", "error: duration overflow"},
          {"timestamp(dyn('2021-02-30T00:00:00Z'))",
           "error: type conversion error from 'string' to 'google.protobuf.Timestamp'"}});
}

TEST(CelQuantity, Functions) {
  Expect({{"isQuantity('1.5Gi')", "true"},
          {"isQuantity('x')", "false"},
          {"quantity('1Gi') == quantity('1024Mi')", "true"},
          {"quantity('500m').isLessThan(quantity('1'))", "true"},
          {"quantity('2').isGreaterThan(quantity('1500m'))", "true"},
          {"quantity('1k').compareTo(quantity('1000'))", "0"},
          {"quantity('50k').asInteger()", "50000"},
          {"quantity('1.5').asInteger()", "error: cannot convert value to integer"},
          {"quantity('1.5').isInteger()", "false"},
          {"quantity('50k').isInteger()", "true"},
          {"quantity('1500m').asApproximateFloat()", "1.5"},
          {"quantity('1').add(quantity('500m')) == quantity('1.5')", "true"},
          {"quantity('1').add(2) == quantity('3')", "true"},
          {"quantity('1').sub(quantity('2')).sign()", "-1"},
          {"sign(quantity('0'))", "0"},
          {"quantity('5').sub(2) == quantity('3')", "true"},
          {"quantity('1e3') == quantity('1k')", "true"},
          {"quantity('1n').isGreaterThan(quantity('0'))", "true"},
          {"type(quantity('1')) == kubernetes.Quantity", "true"},
          {"quantity('10Kiii')",
           "error: quantities must match the regular expression "
           "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"}});
}

TEST(CelUrl, Functions) {
  Expect({{"isURL('https://a.b/c')", "true"},
          {"isURL('a b')", "false"},
          {"isURL('/path')", "true"},
          {"url('HTTPS://u@host:80/p/q?a=1&a=2&b=x%20y#f').getScheme()", "\"https\""},
          {"url('https://u@host:80/p').getHost()", "\"host:80\""},
          {"url('https://[::1]:80/p').getHostname()", "\"::1\""},
          {"url('https://host:80/p').getPort()", "\"80\""},
          {"url('https://host/p').getPort()", "\"\""},
          {"url('https://host/p q').getEscapedPath()", "\"/p%20q\""},
          {"url('https://h/?a=1&a=2&b=x%20y').getQuery()",
           "{\"a\":[\"1\",\"2\"],\"b\":[\"x y\"]}"},
          {"url('https://host:x/p')",
           "error: URL parse error during conversion from string: parse \"https://host:x/p\": "
           "invalid port \":x\" after host"},
          {"url('x')",
           "error: URL parse error during conversion from string: parse \"x\": invalid URI for "
           "request"},
          {"url('https://h/%zz')",
           "error: URL parse error during conversion from string: parse \"https://h/%zz\": "
           "invalid URL escape \"%zz\""}});
}

TEST(CelAddress, Ip) {
  Expect({{"isIP('127.0.0.1')", "true"},
          {"isIP('::1')", "true"},
          {"isIP('1.2.3')", "false"},
          {"isIP('01.2.3.4')", "false"},
          {"isIP('::ffff:1.2.3.4')", "false"},
          {"isIP('fe80::1%eth0')", "false"},
          {"isIP('1:2:3:4:5:6:7:8:9')", "false"},
          {"isIP('1::2::3')", "false"},
          {"isIP('64:ff9b::1.2.3.4')", "true"},
          {"ip('127.0.0.1').family()", "4"},
          {"ip('::1').family()", "6"},
          {"string(ip('2001:DB8:0:0:0:0:0:1'))", "\"2001:db8::1\""},
          {"string(ip('1:0:0:2:0:0:0:3'))", "\"1:0:0:2::3\""},
          {"ip.isCanonical('2001:db8::1')", "true"},
          {"ip.isCanonical('2001:DB8::1')", "false"},
          {"ip('0.0.0.0').isUnspecified()", "true"},
          {"ip('127.3.2.1').isLoopback()", "true"},
          {"ip('169.254.0.1').isLinkLocalUnicast()", "true"},
          {"ip('fe80::1').isLinkLocalUnicast()", "true"},
          {"ip('224.0.0.1').isLinkLocalMulticast()", "true"},
          {"ip('ff02::1').isLinkLocalMulticast()", "true"},
          {"ip('8.8.8.8').isGlobalUnicast()", "true"},
          {"ip('255.255.255.255').isGlobalUnicast()", "false"},
          {"ip('::1') == ip('0:0:0:0:0:0:0:1')", "true"},
          {"type(ip('::1')) == net.IP", "true"},
          {"ip('1.2.3.4.5')",
           "error: IP Address \"1.2.3.4.5\" parse error during conversion from string: "
           "ParseAddr(\"1.2.3.4.5\"): unable to parse IP"},
          {"ip('fe80::1%a')", "error: IP address \"fe80::1%a\" with zone value is not allowed"},
          {"ip('::ffff:1.2.3.4')",
           "error: IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed"}});
}

TEST(CelAddress, Cidr) {
  Expect({{"isCIDR('10.0.0.0/8')", "true"},
          {"isCIDR('10.0.0.0/33')", "false"},
          {"isCIDR('10.0.0.0')", "false"},
          {"isCIDR('::/129')", "false"},
          {"cidr('10.0.0.0/8').containsIP('10.1.2.3')", "true"},
          {"cidr('10.0.0.0/8').containsIP(ip('11.1.2.3'))", "false"},
          {"cidr('10.0.0.0/8').containsIP('::1')", "false"},
          {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"},
          {"cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", "false"},
          {"cidr('10.1.2.3/8').ip() == ip('10.1.2.3')", "true"},
          {"cidr('10.1.2.3/8').prefixLength()", "8"},
          {"string(cidr('10.1.2.3/8').masked())", "\"10.0.0.0/8\""},
          {"cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')", "true"}});
}

TEST(CelSemver, Functions) {
  Expect({{"isSemver('1.2.3')", "true"},
          {"isSemver('1.2')", "false"},
          {"isSemver('v1.2', true)", "true"},
          {"isSemver('01.02.03')", "false"},
          {"isSemver('01.02.03', true)", "true"},
          {"semver('1.2.3').major()", "1"},
          {"semver('1.2.3').minor()", "2"},
          {"semver('1.2.3').patch()", "3"},
          {"semver('1.2.3').isLessThan(semver('1.10.0'))", "true"},
          {"semver('1.0.0-alpha').isLessThan(semver('1.0.0'))", "true"},
          {"semver('1.0.0-alpha.2').compareTo(semver('1.0.0-alpha.10'))", "-1"},
          {"semver('1.0.0-1').compareTo(semver('1.0.0-a'))", "-1"},
          {"semver('2.0.0').isGreaterThan(semver('1.0.0'))", "true"},
          {"semver('1.0.0+b') == semver('1.0.0')", "true"},
          {"semver('1')", "error: No Major.Minor.Patch elements found"},
          {"semver('v1-x', true)",
           "error: short version cannot contain PreRelease/Build meta data"}});
}

TEST(CelNamedFormat, Validate) {
  Expect({{"format.dns1123Label().validate('my-name')", "none"},
          {"format.dns1123Label().validate('My').hasValue()", "true"},
          {"format.named('dns1123Subdomain').value().validate('a.b')", "none"},
          {"format.named('nope')", "none"},
          {"format.dns1035Label().validate('1a').hasValue()", "true"},
          {"format.dns1123LabelPrefix().validate('a-')", "none"},
          {"format.dns1123SubdomainPrefix().validate('a.b-')", "none"},
          {"format.dns1035LabelPrefix().validate('a-')", "none"},
          {"format.qualifiedName().validate('example.com/name')", "none"},
          {"format.qualifiedName().validate('/name')",
           "optional([\"prefix part must be non-empty\"])"},
          {"format.labelValue().validate('')", "none"},
          {"format.uri().validate('x')", "optional([\"parse \\\"x\\\": invalid URI for "
                                         "request\"])"},
          {"format.uuid().validate('123e4567-e89b-12d3-a456-426614174000')", "none"},
          {"format.uuid().validate('x')", "optional([\"does not match the UUID format\"])"},
          {"format.byte().validate('aGVsbG8=')", "none"},
          {"format.byte().validate('%')", "optional([\"invalid base64\"])"},
          {"format.date().validate('2021-01-01')", "none"},
          {"format.date().validate('2021-13-01')", "optional([\"invalid date\"])"},
          {"format.datetime().validate('2021-01-01T00:00:00Z')", "none"},
          {"format.datetime().validate('x')", "optional([\"invalid datetime\"])"}});
}

class Oracle : public AccessOracle {
 public:
  AccessAnswer Ask(const AccessQuestion& q) const override {
    if (q.resource == "broken") return {.allowed = false, .reason = "", .error = "no answer"};
    const std::string text = q.user + "|" + q.path + "|" + q.group + "|" + q.resource + "|" +
                             q.subresource + "|" + q.namespace_ + "|" + q.name + "|" +
                             q.field_selector + "|" + q.label_selector + "|" + q.verb;
    return {.allowed = q.verb == "get", .reason = text, .error = ""};
  }
};

TEST(CelAuthorizer, AsksTheOracle) {
  Environment env;
  env.variables = {{"authorizer", AuthorizerType()}, {"resource", ResourceCheckType()}};
  const auto oracle = std::make_shared<Oracle>();
  AccessQuestion about;
  about.group = "apps";
  about.resource = "deployments";
  const std::vector<Value> variables = {MakeAuthorizer(oracle), MakeResourceCheck(oracle, about)};
  auto eval = [&](const std::string& text) {
    auto program = Compile(text, env);
    if (!program.ok()) return program.error().message();
    return Show((*program)->Run(variables, limits::kCelCallCost).value);
  };
  EXPECT_EQ(eval("authorizer.path('/healthz').check('get').allowed()"), "true");
  EXPECT_EQ(eval("authorizer.path(' ').check('get').allowed()"),
            "error: path must not be empty");
  EXPECT_EQ(eval("authorizer.group('').resource('pods').subresource('log').namespace('ns')"
                 ".name('n').fieldSelector('a=b').labelSelector('c=d').check('list').reason()"),
            "\"|||pods|log|ns|n|a=b|c=d|list\"");
  EXPECT_EQ(eval("authorizer.serviceAccount('ns', 'sa').group('g').resource('r').check('x')"
                 ".reason()"),
            "\"system:serviceaccount:ns:sa||g|r||||||x\"");
  EXPECT_EQ(eval("authorizer.serviceAccount('ns', 'S A').group('').resource('r').check('x')"
                 ".allowed()"),
            "error: Invalid service account name");
  EXPECT_EQ(eval("resource.check('delete').reason()"), "\"||apps|deployments||||||delete\"");
  EXPECT_EQ(eval("authorizer.group('').resource('broken').check('x').errored()"), "true");
  EXPECT_EQ(eval("authorizer.group('').resource('broken').check('x').error()"), "\"no answer\"");
  // Three questions are more than one evaluation may ask.
  EXPECT_EQ(eval("resource.check('a').allowed() || resource.check('b').allowed() || "
                 "resource.check('c').allowed()"),
            "error: operation cancelled: actual cost limit exceeded");
}

}  // namespace
}  // namespace mailroom::cel

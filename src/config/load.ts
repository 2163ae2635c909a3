import { type Document, isCollection, parseDocument, visit, type YAMLError } from 'yaml';
import type { z } from 'zod';
import { UsageError } from '../lib/errors.ts';
import { findNearestName, suggestNames } from '../lib/nearest-name.ts';
import { readInputFile } from '../lib/read-input-file.ts';
import { findNoOpSettings, findUnsafeValues, knownSettings } from './check-settings.ts';
import { findNameClashes } from './name-clashes.ts';
import { type CatalogNames, type Config, configSchema } from './schema.ts';

/**
 * Loads and validates a configuration file.
 * @throws UsageError with every problem and its path in the file
 */
export function loadConfig(file: string, names: CatalogNames): Config {
  const missing = `correct --config or RECORDER_CONFIG, or let "chain-recorder init --config ${file}" write it`;
  const text = readInputFile(file, file, missing);
  const document = parseDocument(text, { merge: true });
  // A warning means that the parsed value differs from the intended value. For example, the text of an
  // unknown tag becomes the value.
  const all = [...document.errors, ...document.warnings];
  // The parser stops at excessive nesting, and further errors are consequences of that.
  const tooDeep = all.find(({ code }) => code === NESTING_ERROR_CODE);
  const faults = tooDeep ? [tooDeep] : all;
  const lists = findInvalidNames(document);
  if (faults.length + lists.length > 0)
    throw new UsageError([...faults.map(formatYamlError), ...lists].map((problem) => `${file}: ${problem}`));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 20 });
  } catch {
    throw new UsageError([`${file}: aliases of aliases expand to too many values: write the values out`]);
  }
  return validateConfig(value, names, file);
}

/** Fixes for YAML errors, by error code. */
const YAML_FIXES: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'indent with spaces: YAML does not allow tabs',
  DUPLICATE_KEY: 'this setting appears twice: remove one of them',
  BAD_INDENT:
    'settings of one section start in the same column, two spaces further than the name of the section',
  BLOCK_AS_IMPLICIT_KEY:
    'write one setting per line; the settings of a section follow below its name, indented by two spaces; quote a text that contains ": "',
  MISSING_CHAR: 'a quote, a bracket or the dash of a list is missing here or above',
  BAD_SCALAR_START: 'put the text into quotes',
  MULTIPLE_DOCS: 'keep only one document in the file, without the line ---',
  TAG_RESOLVE_FAILED: 'remove the tag; secrets come from the environment (docs/reference/settings.md)',
};

const NESTING_ERROR_CODE = 'RESOURCE_EXHAUSTION';

/** Hint for programmers in an error of the parser. The hint is removed. */
const PARSER_HINT = '; please use YAML.parseAllDocuments()';

/** Formats a YAML error with its position and fix. */
function formatYamlError({ code, message }: YAMLError): string {
  const [firstLine = ''] = message.replace(PARSER_HINT, '').split('\n');
  if (code === NESTING_ERROR_CODE)
    return firstLine.replace(/^.*( at line \d+).*$/, 'nested too deeply$1: no setting has this depth');
  const fix = YAML_FIXES[code];
  return fix === undefined ? firstLine : `${firstLine.replace(/:$/, '')}: ${fix}`;
}

/** Returns the keys that are a list or a mapping instead of the name of a setting. */
function findInvalidNames(document: Document): string[] {
  const problems: string[] = [];
  visit(document, {
    Pair: (_, { key }) => {
      if (isCollection(key))
        problems.push(`${key}: is a list or a mapping, but the name of a setting must be a string`);
    },
  });
  return problems;
}

/** Renamed settings: old names with their new names. */
const RENAMED: Readonly<Record<string, string>> = {
  believe: 'confirmShrink',
  shares: 'partitions',
  lasts: 'duration',
  remind: 'repeatInterval',
  times: 'threshold',
  from: 'startAt',
  target: 'slo',
  uptime: 'minUptime',
  uptimeAfter: 'minUptimeAfterUpgrade',
  names: 'allowedHosts',
  proxies: 'trustedProxies',
  quiet: 'quietHours',
  zone: 'timeZone',
  severity: 'minSeverity',
  batch: 'batchSize',
};

/**
 * Validates a parsed configuration.
 * @throws UsageError with every problem and its path
 */
export function validateConfig(value: unknown, names: CatalogNames, file: string): Config {
  const settings = removeEmptySettings(value, file) ?? {};
  const result = configSchema(names).safeParse(settings, { reportInput: true });
  const unsafe = findUnsafeValues(settings);
  const across = [...findNameClashes(settings), ...findNoOpSettings(settings, names)];
  if (result.success && unsafe.length + across.length === 0) return result.data;
  const reported = new Set(unsafe.map(pathIn));
  const invalid = (result.error?.issues ?? [])
    .flatMap(selectNearestAlternative)
    .flatMap((issue) => problemsOf(issue, names))
    .filter((problem) => !reported.has(pathIn(problem)));
  throw new UsageError([...unsafe, ...invalid, ...across].map((problem) => `${file}: ${problem}`));
}

/** Returns the path at the start of a problem. */
const pathIn = (problem: string) => problem.split(': ', 1)[0];

/** Formats one issue of the schema as problems with their paths. */
function problemsOf(issue: z.core.$ZodIssue, names: CatalogNames): string[] {
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1);
  if (issue.code !== 'unrecognized_keys') return [`${path || 'the file'}: ${problemOf(issue)}`];
  const known =
    { datasets: names.datasets, retention: [...names.shortestRetention.keys()] }[path] ??
    knownSettings(names, issue.path);
  const kind = path === 'datasets' || path === 'retention' ? 'dataset' : 'setting';
  return issue.keys.map((key) => {
    const renamed = RENAMED[key];
    if (renamed !== undefined && known.includes(renamed)) return `${path}.${key}: was renamed to ${renamed}`;
    return `${path ? `${path}.` : ''}${key}: no such ${kind}; ${suggestNames(key, known)}`;
  });
}

/** Selects the alternative with the fewest problems if a setting has several valid forms. */
function selectNearestAlternative(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [first] = issue.errors.toSorted((one, other) => one.length - other.length);
  if (first === undefined) return [issue];
  return first.flatMap((inner) =>
    selectNearestAlternative({ ...inner, path: [...issue.path, ...inner.path] }),
  );
}

/**
 * Removes settings without a value, which count as absent.
 * @param above ancestors of the value
 * @throws UsageError on a circular alias
 */
function removeEmptySettings(value: unknown, file: string, above: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (above.includes(value)) throw new UsageError([`${file}: circular YAML alias: write the value out`]);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      inner === null ? [] : [[name, removeEmptySettings(inner, file, [...above, value])]],
    ),
  );
}

/** Returns the problem in the terms of this project instead of the validator's. */
function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.message !== '' && !/^(Invalid|Too)/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return expectOneOf(issue.values.map(String), issue.input);
    case 'invalid_union':
      // For a discriminated union: no alternative matches the discriminator.
      return 'options' in issue && issue.options
        ? expectOneOf(issue.options.map(String), selectDiscriminator(issue))
        : issue.message;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${SIZE_UNITS[issue.origin] ?? ''}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${SIZE_UNITS[issue.origin] ?? ''}`;
    default:
      return issue.message;
  }
}

/**
 * Returns the error for a value that is not allowed, with the allowed values and the nearest value. If there
 * are many allowed values, the error contains only the nearest value.
 */
function expectOneOf(values: readonly string[], input: unknown): string {
  const nearest = typeof input === 'string' ? findNearestName(input, values) : undefined;
  if (nearest === undefined) return `must be one of ${values.join(', ')}`;
  return values.length > MAX_LISTED_VALUES
    ? `there is no "${input}"; did you mean ${nearest}?`
    : `must be one of ${values.join(', ')}; did you mean ${nearest}?`;
}

/** Maximum number of allowed values in an error that contains the nearest value. */
const MAX_LISTED_VALUES = 12;

/** Returns the value of the discriminator of a union. */
function selectDiscriminator({ input, path }: z.core.$ZodIssue): unknown {
  const name = String(path.at(-1));
  return typeof input === 'object' && input !== null
    ? Object.getOwnPropertyDescriptor(input, name)?.value
    : input;
}

/** Units of the length of texts and lists, for messages. */
const SIZE_UNITS: Readonly<Record<string, string>> = { array: ' long', string: ' characters' };

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text (quotes turn a number into a text)',
  object: 'a mapping of settings',
  record: 'a mapping of settings',
  array: 'a list',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

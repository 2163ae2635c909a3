import { type Document, isCollection, parseDocument, visit, type YAMLError } from 'yaml';
import type { z } from 'zod';
import { UsageError } from '../lib/errors.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { readGivenFile } from '../lib/read-input-file.ts';
import { knownSettings } from './known-settings.ts';
import { clashingNames } from './name-clashes.ts';
import { settingsWithoutEffect } from './no-op-settings.ts';
import { type CatalogNames, type Config, configSchema } from './schema.ts';
import { unsafeValues } from './unsafe-values.ts';

/**
 * Reads and checks a configuration file.
 * @throws UsageError when the file is wrong: every problem, each with its path in the file
 */
export function loadConfig(file: string, names: CatalogNames): Config {
  const missing = `correct --config or RECORDER_CONFIG, or let "chain-recorder init --config ${file}" write it`;
  const text = readGivenFile(file, file, missing);
  const document = parseDocument(text, { merge: true });
  // A warning is about something that is not read as it was meant, such as a tag: its text would count as the value.
  const all = [...document.errors, ...document.warnings];
  // What is nested too deep is not read on: other faults follow from that.
  const tooDeep = all.find(({ code }) => code === TOO_DEEP);
  const faults = tooDeep ? [tooDeep] : all;
  const lists = namesThatAreNone(document);
  if (faults.length + lists.length > 0)
    throw new UsageError([...faults.map(faultOf), ...lists].map((problem) => `${file}: ${problem}`));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 20 });
  } catch {
    throw new UsageError([`${file}: aliases of aliases make too much of it: write out what they stand for`]);
  }
  return checkConfig(value, names, file);
}

/** What mends a file that is no YAML, by the code of the fault. */
const MENDS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'indent with spaces: YAML takes no tabs',
  DUPLICATE_KEY: 'this setting stands here twice: leave one of them out, or put both into one',
  BAD_INDENT: 'settings of one part begin in the same column, two spaces further than the name of the part',
  BLOCK_AS_IMPLICIT_KEY:
    'write one setting a line; what belongs to a part stands below its name, two spaces further; a text with ": " stands in quotes',
  MISSING_CHAR: 'a quote, a bracket or the dash of a list is missing here or above',
  BAD_SCALAR_START: 'put the text into quotes',
  MULTIPLE_DOCS: 'keep one of them, without the line ---',
  TAG_RESOLVE_FAILED:
    'leave the tag out; a secret comes from the environment, which docs/settings.md tells of',
};

const TOO_DEEP = 'RESOURCE_EXHAUSTION';

/** What the parser says to programmers. */
const FOR_PROGRAMMERS = '; please use YAML.parseAllDocuments()';

/** What is wrong with the text of a file, where, and what mends it. */
function faultOf({ code, message }: YAMLError): string {
  const [said = ''] = message.replace(FOR_PROGRAMMERS, '').split('\n');
  if (code === TOO_DEEP)
    return said.replace(
      /^.*( at line \d+).*$/,
      'it is nested too deep$1: no setting is so far within others',
    );
  const mend = MENDS[code];
  return mend === undefined ? said : `${said.replace(/:$/, '')}: ${mend}`;
}

/** What stands where the name of a setting has to be, and is a list or a mapping. */
function namesThatAreNone(document: Document): string[] {
  const problems: string[] = [];
  visit(document, {
    Pair: (_, { key }) => {
      if (isCollection(key)) problems.push(`${key}: is no name of a setting: names are texts`);
    },
  });
  return problems;
}

/** Settings that have another name now. */
const RENAMED: Readonly<Record<string, string>> = {
  believe: 'confirmShrink',
  shares: 'partitions',
  lasts: 'duration',
  remind: 'repeatInterval',
  times: 'threshold',
  from: 'startAt',
};

/** Checks a configuration that was read already. @throws UsageError when it is wrong: every problem and its path */
export function checkConfig(value: unknown, names: CatalogNames, file: string): Config {
  const told = withoutEmpty(value, file) ?? {};
  const result = configSchema(names).safeParse(told, { reportInput: true });
  const unsafe = unsafeValues(told);
  const across = [...clashingNames(told), ...settingsWithoutEffect(told, names)];
  if (result.success && unsafe.length + across.length === 0) return result.data;
  const reported = new Set(unsafe.map(pathIn));
  const invalid = (result.error?.issues ?? [])
    .flatMap(nearest)
    .flatMap((issue) => problemsOf(issue, names))
    .filter((problem) => !reported.has(pathIn(problem)));
  throw new UsageError([...unsafe, ...invalid, ...across].map((problem) => `${file}: ${problem}`));
}

/** The path that a problem begins with. */
const pathIn = (problem: string) => problem.split(': ', 1)[0];

/** The problems of one issue of the schema, each with its path. */
function problemsOf(issue: z.core.$ZodIssue, names: CatalogNames): string[] {
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1);
  if (issue.code !== 'unrecognized_keys') return [`${path || 'the file'}: ${problemOf(issue)}`];
  const known = path === 'datasets' ? names.datasets : knownSettings(names, issue.path);
  const no = path === 'datasets' ? `dataset; there are ${known.join(', ')}` : 'setting';
  return issue.keys.map((key) => {
    const renamed = RENAMED[key];
    if (renamed !== undefined && known.includes(renamed)) return `${path}.${key}: was renamed to ${renamed}`;
    const meant = nearestName(key, known);
    const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
    return `${path ? `${path}.` : ''}${key}: no such ${no}${guess}`;
  });
}

/** Where a setting has several valid forms: the problems of the form that is nearest to what was written. */
function nearest(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [first] = issue.errors.toSorted((one, other) => one.length - other.length);
  if (first === undefined) return [issue];
  return first.flatMap((inner) => nearest({ ...inner, path: [...issue.path, ...inner.path] }));
}

/**
 * Removes settings without a value: they count as absent.
 * @param above what the value stands within
 * @throws UsageError when it stands within itself
 */
function withoutEmpty(value: unknown, file: string, above: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (above.includes(value))
    throw new UsageError([`${file}: an alias stands within what it stands for: write out what it should be`]);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      inner === null ? [] : [[name, withoutEmpty(inner, file, [...above, value])]],
    ),
  );
}

/** What is wrong, in the words of this project rather than the validator's. */
function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.message !== '' && !/^(Invalid|Too)/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      // Of forms that are told apart by one setting, none is called so.
      return 'options' in issue && issue.options
        ? `must be one of ${issue.options.join(', ')}`
        : issue.message;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${MEASURES[issue.origin] ?? ''}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${MEASURES[issue.origin] ?? ''}`;
    default:
      return issue.message;
  }
}

/** What a size is counted in, where it is not the number itself. */
const MEASURES: Readonly<Record<string, string>> = { array: ' long', string: ' characters' };

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text (quotes make one of a number)',
  object: 'a mapping of settings',
  record: 'a mapping of settings',
  array: 'a list',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

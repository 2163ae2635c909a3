import {
  getAlternatives,
  parseSettingDocs,
  type SettingSchema,
  settingsSchema,
} from '../../src/config/editor-schema.ts';
import type { CatalogNames } from '../../src/config/schema.ts';
import { VARIABLES, type Variable } from '../../src/config/variables.ts';

/** A key of `recorder.yaml`. */
interface Setting {
  /** Path from the root, such as `a.b`. `[]` is any element of a list, `DATASET` any dataset. */
  readonly path: string;
  readonly about: string;
  readonly values: string;
  readonly unit: string;
  /** Default value, as text. */
  readonly absent: string;
}

const heading = `# Settings

Generated from the code by \`npm run docs\`.

\`recorder.yaml\` is validated as a whole before anything starts; an unknown key is an error. It is one YAML document in UTF-8. Anchors,
aliases and merge keys (\`<<\`) are allowed. [recorder.schema.json](../recorder.schema.json) lets editors complete it. Examples are in
[examples](../../examples). Below, \`[]\` is each element of a list.
`;

const environment = `## Environment

Secrets come from the environment only. Instead of a variable with an entry in the column "or a file", \`NAME_FILE\` can name a
file that contains the value. An empty variable counts as not set.
`;

/** Formats every key of `recorder.yaml` and every variable of the environment as Markdown. */
export function formatSettingsPage(names: CatalogNames): string {
  const settings = settingsOf(settingsSchema(names), '', true);
  const parts = Object.keys(settingsSchema(names).properties ?? {}).map((name) =>
    settings.filter(
      ({ path }) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`),
    ),
  );
  const alone = parts.filter((part) => part.length === 1).flat();
  const groups = parts.filter((part) => part.length > 1);
  return [
    heading,
    `## General\n\n${table(alone)}`,
    ...groups.map(([group, ...within]) => `## ${group?.path}\n\n${group?.about}\n\n${table(within)}`),
    environment,
    variablesTable(),
  ].join('\n');
}

/**
 * Returns the setting of a schema and, after it, the settings that it contains. Duplicate settings of
 * alternatives appear once.
 */
function settingsOf(schema: SettingSchema, path: string, required: boolean): Setting[] {
  const own: Setting[] =
    path === '' || path.endsWith('[]')
      ? []
      : [
          {
            path,
            about: parseSettingDocs(schema).description ?? '',
            values: valuesOf(schema),
            unit:
              innermost(schema).flatMap(
                (form) => parseSettingDocs(form).unit ?? parseSettingDocs(schema).unit ?? [],
              )[0] ?? '',
            absent: absentOf(schema, required),
          },
        ];
  const within = forms(schema).flatMap((form) => [
    ...parts(form.items).flatMap((item) => settingsOf(item, `${path}[]`, false)),
    ...Object.entries(form.properties ?? {}).flatMap(([name, property]) =>
      parts(property).flatMap((part) =>
        settingsOf(part, path === '' ? name : `${path}.${name}`, form.required?.includes(name) ?? false),
      ),
    ),
    ...parts(form.additionalProperties).flatMap((part) => settingsOf(part, `${path}.DATASET`, false)),
  ]);
  return [...new Map([...own, ...within].map((setting) => [setting.path, setting])).values()];
}

/** Returns the alternatives of a setting without null, or the setting itself. */
function forms(schema: SettingSchema): SettingSchema[] {
  const several = getAlternatives(schema);
  if (several === undefined) return schema.type === 'null' ? [] : [schema];
  return several.flatMap((form) => parts(form).flatMap(forms));
}

/** Returns the alternatives of a setting; for a list, the alternatives of its elements. */
const innermost = (schema: SettingSchema): SettingSchema[] =>
  forms(schema).flatMap((form) => (form.type === 'array' ? parts(form.items).flatMap(innermost) : [form]));

/**
 * Returns a list with one schema. The list is empty if the value is a boolean or missing; JSON Schema allows
 * both.
 */
function parts(place: unknown): SettingSchema[] {
  return isPart(place) ? [place] : [];
}

const isPart = (place: unknown): place is SettingSchema => typeof place === 'object' && place !== null;

function absentOf(schema: SettingSchema, required: boolean): string {
  if (required) return 'required';
  const { absent } = parseSettingDocs(schema);
  if (absent !== undefined) return absent;
  const preset = schema.default;
  if (Array.isArray(preset)) return preset.length === 0 ? 'none' : code(preset);
  return preset === undefined || typeof preset === 'object' ? '' : code([preset]);
}

function valuesOf(schema: SettingSchema): string {
  const texts = forms(schema).map((form) => {
    if (form.type === 'array') return `a list: ${[...new Set(parts(form.items).map(valuesOf))].join(' or ')}`;
    if (form.enum !== undefined) return code(form.enum);
    const kind = KINDS[String(form.type)] ?? String(form.type);
    const examples = Array.isArray(form.examples) ? [`such as ${code(form.examples)}`] : [];
    return [kind, ...bounds(form), ...examples].join(', ');
  });
  return [...new Set(texts)].join(' or ');
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: '`true`, `false`',
  object: 'a mapping',
};

function bounds({ minimum, exclusiveMinimum, maximum }: SettingSchema): string[] {
  return [
    minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? [] : `at least ${minimum}`,
    exclusiveMinimum === undefined ? [] : `more than ${exclusiveMinimum}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : `at most ${maximum}`,
  ].flat();
}

const code = (values: readonly unknown[]) => values.map((value) => `\`${String(value)}\``).join(', ');

function table(settings: readonly Setting[]): string {
  const rows = settings.map(({ path, values, unit, absent, about }) =>
    row([`\`${path}\``, values, unit, absent, about]),
  );
  return `| key | value | unit | default | description |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function variablesTable(): string {
  const rows = Object.entries<Variable>(VARIABLES).map(([name, { about, values, preset, absent, secret }]) =>
    row([
      `\`${name}\``,
      values === undefined ? 'text' : code(values),
      preset === undefined ? (absent ?? '') : code([preset]),
      secret ? `\`${name}_FILE\`` : '',
      about,
    ]),
  );
  return `| variable | value | default | or a file | description |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

const row = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

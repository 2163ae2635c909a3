import { z } from 'zod';
import { escapeUnsafeText } from '../lib/safe-text.ts';
import { getAlternatives, type SettingSchema, settingsSchema } from './editor-schema.ts';
import type { CatalogNames } from './schema.ts';

/** Schema of the parts of the file with cross-references. Everything else is ignored here, valid or not. */
const referencesSchema = z.looseObject({
  upstreams: z.looseObject({ nodes: z.array(z.unknown()).catch([]) }).catch({ nodes: [] }),
  health: z.looseObject({ maintenance: z.array(z.unknown()).catch([]) }).catch({ maintenance: [] }),
  datasets: z.record(z.string(), z.record(z.string(), z.unknown()).catch({})).catch({}),
});
const node = z.looseObject({ name: z.string() });
const window = z.looseObject({ nodes: z.array(z.unknown()) });

/** Returns settings that are valid but have no effect, each with its path and the reason. */
export function findNoOpSettings(value: unknown, names: CatalogNames): string[] {
  const read = referencesSchema.safeParse(value);
  if (!read.success) return [];
  const { upstreams, health, datasets } = read.data;
  const nodes = upstreams.nodes.flatMap((one) => node.safeParse(one).data?.name ?? []);
  const there = nodes.length > 0 ? `there are ${nodes.join(', ')}` : 'there are none';
  const unknownNodes = health.maintenance.flatMap((one, at) =>
    (window.safeParse(one).data?.nodes ?? []).flatMap((name, place) =>
      typeof name !== 'string' || nodes.includes(name)
        ? []
        : [`health.maintenance[${at}].nodes[${place}]: there is no node "${name}"; ${there}`],
    ),
  );
  const overrides = Object.entries(datasets).flatMap(([dataset, override]) =>
    Object.entries(override).flatMap(([setting, set]) => {
      const reason = set === undefined ? null : names.withoutEffect(dataset, setting, set);
      return reason === null ? [] : [`datasets.${dataset}.${setting}: has no effect: ${reason}`];
    }),
  );
  return [...unknownNodes, ...overrides];
}

/** Keys of JavaScript's own objects, which are not names of settings. */
const RESERVED_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Settings with texts of several lines. */
const MULTILINE_SETTINGS = new Set(['sql', 'body']);

/**
 * Returns the problems of content that is invalid in every setting, each with its path. Such content is a
 * reserved key, or a control character or line break in a single-line text, which may be sent in a header,
 * URL or address.
 */
export function findUnsafeValues(value: unknown, path = '', name = ''): string[] {
  if (typeof value === 'string') {
    if (MULTILINE_SETTINGS.has(name) || escapeUnsafeText(value) === value) return [];
    return [`${path}: must be one line without control or invisible characters`];
  }
  if (Array.isArray(value))
    return value.flatMap((element, at) => findUnsafeValues(element, `${path}[${at}]`, name));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = path === '' ? key : `${path}.${key}`;
    return RESERVED_KEYS.has(key) ? [`${place}: no such setting`] : findUnsafeValues(inner, place, key);
  });
}

/**
 * Returns the names of the settings that are valid at a path of the file. Empty if no setting is valid there.
 */
export function knownSettings(names: CatalogNames, path: readonly PropertyKey[]): string[] {
  let places: SettingSchema[] = [settingsSchema(names)];
  for (const part of path) places = places.flatMap(forms).flatMap((form) => below(form, part));
  return places.flatMap(forms).flatMap(({ properties }) => Object.keys(properties ?? {}));
}

/** Returns the alternatives of a setting, or the setting itself. */
const forms = (schema: SettingSchema): SettingSchema[] =>
  (getAlternatives(schema) ?? [schema]).flatMap((form) => (typeof form === 'object' ? [form] : []));

function below(
  { items, properties, additionalProperties }: SettingSchema,
  part: PropertyKey,
): SettingSchema[] {
  const found =
    typeof part === 'number' ? [items].flat() : [properties?.[String(part)] ?? additionalProperties];
  return found.flatMap((one) => (typeof one === 'object' ? [one] : []));
}

import { type SettingSchema, settingsSchema, waysOf } from './editor-schema.ts';
import type { CatalogNames } from './schema.ts';

/** The names of the settings that may stand at a place of the file; empty where none may. */
export function knownSettings(names: CatalogNames, path: readonly PropertyKey[]): string[] {
  let places: SettingSchema[] = [settingsSchema(names)];
  for (const part of path) places = places.flatMap(forms).flatMap((form) => below(form, part));
  return places.flatMap(forms).flatMap(({ properties }) => Object.keys(properties ?? {}));
}

/** What may be written in several ways, each. */
const forms = (schema: SettingSchema): SettingSchema[] =>
  (waysOf(schema) ?? [schema]).flatMap((form) => (typeof form === 'object' ? [form] : []));

function below(
  { items, properties, additionalProperties }: SettingSchema,
  part: PropertyKey,
): SettingSchema[] {
  const found =
    typeof part === 'number' ? [items].flat() : [properties?.[String(part)] ?? additionalProperties];
  return found.flatMap((one) => (typeof one === 'object' ? [one] : []));
}

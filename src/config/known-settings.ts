import { getAlternatives, type SettingSchema, settingsSchema } from './editor-schema.ts';
import type { CatalogNames } from './schema.ts';

/** Returns the names of the settings that are valid at a path of the file. Empty if none is. */
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

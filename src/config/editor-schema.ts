import { z } from 'zod';
import { type CatalogNames, configSchema } from './schema.ts';

/** A part of the JSON Schema of `recorder.yaml`. */
export type SettingSchema = z.core.JSONSchema.BaseSchema;

/**
 * Schema of a setting's documentation. `unit` and `absent` (the default as text) are not part of JSON Schema.
 */
const settingDocsSchema = z.object({
  description: z.string().optional(),
  unit: z.string().optional(),
  absent: z.string().optional(),
});

/** Returns the alternatives of a setting. Returns undefined if the setting has no alternatives. */
export const getAlternatives = ({ anyOf, oneOf }: SettingSchema) => anyOf ?? oneOf;

/** Documentation of a setting. */
export type SettingDocs = z.infer<typeof settingDocsSchema>;

/** Returns the JSON Schema of `recorder.yaml`, with the unit and the default of each setting. */
export function settingsSchema(names: CatalogNames): SettingSchema {
  return z.toJSONSchema(configSchema(names), { io: 'input', unrepresentable: 'any' });
}

/**
 * Returns the documentation of a setting in {@link settingsSchema}.
 * @throws ZodError if the documentation is invalid
 */
export const parseSettingDocs = (part: SettingSchema): SettingDocs => settingDocsSchema.parse(part);

/**
 * Returns the JSON Schema of `recorder.yaml` for editors, as text. The descriptions include units and
 * defaults.
 */
export function editorSchema(names: CatalogNames): string {
  const schema = { title: 'chain-recorder configuration', ...settingsSchema(names) };
  return `${JSON.stringify(schema, (_, part: unknown) => mergeDescription(part), 2)}\n`;
}

function mergeDescription(part: unknown): unknown {
  // Below `properties`, these keys are names of settings and not texts.
  const { data } = settingDocsSchema.safeParse(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part) || data === undefined) return part;
  const { description, unit, absent } = data;
  const texts = [
    description ?? [],
    unit === undefined ? [] : `Unit: ${unit}.`,
    absent === undefined ? [] : `Default: ${absent}.`,
  ].flat();
  const others = Object.entries(part).filter(([name]) => !(name in settingDocsSchema.shape));
  return { ...(texts.length > 0 ? { description: texts.join(' ') } : {}), ...Object.fromEntries(others) };
}

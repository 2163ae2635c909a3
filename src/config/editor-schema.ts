import { z } from 'zod';
import { type CatalogNames, configSchema } from './schema.ts';

/** The JSON Schema of `recorder.yaml`, for editors, as text. */
export function editorSchema(names: CatalogNames): string {
  const schema = z.toJSONSchema(configSchema(names), { io: 'input', unrepresentable: 'any' });
  return `${JSON.stringify({ title: 'chain-recorder configuration', ...schema }, null, 2)}\n`;
}

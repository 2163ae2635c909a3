import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { messageOf, UsageError } from '../errors.ts';
import { type CatalogNames, type Config, configSchema } from './schema.ts';

/**
 * Reads and checks a configuration file.
 * @throws UsageError with every problem, each with its path in the file
 */
export function loadConfig(file: string, names: CatalogNames): Config {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError([`${file}: ${messageOf(error)}`]);
  }
  const document = parseDocument(text);
  if (document.errors.length > 0)
    throw new UsageError(document.errors.map((error) => `${file}: ${error.message.split('\n')[0]}`));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 20 });
  } catch (error) {
    throw new UsageError([`${file}: ${messageOf(error)}`]); // aliases of aliases
  }
  return checkConfig(value, names, file);
}

/** Checks a configuration that was read already. @throws UsageError with every problem and its path */
export function checkConfig(value: unknown, names: CatalogNames, file: string): Config {
  const result = configSchema(names).safeParse(value ?? {});
  if (result.success) return result.data;
  throw new UsageError(
    result.error.issues.flatMap((issue) => {
      const path = issue.path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
        .join('')
        .slice(1);
      if (issue.code === 'unrecognized_keys') {
        const no = path === 'datasets' ? `dataset; there are ${names.datasets.join(', ')}` : 'setting';
        return issue.keys.map((key) => `${file}: ${path ? `${path}.` : ''}${key}: no such ${no}`);
      }
      return [`${file}: ${path || 'the file'}: ${issue.message}`];
    }),
  );
}

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { z } from 'zod';
import { getCatalogue } from '../src/reporting/relations/catalogue.ts';
import { declaredObjects } from '../src/reporting/views/declared-objects.ts';
import { bundle } from './bundle.ts';
import { rowTypes } from './row-types.ts';
import { typedSchema } from './typed-schema.ts';

/**
 * Builds the package: the bundle of its sources, `chain-recorder/schema`, and the declarations of `chain-recorder` and
 * `chain-recorder/client`.
 */
const dist = new URL('../dist/', import.meta.url);
const { javascript, declarations } = typedSchema(declaredObjects());
const histories = new Map(
  [...getCatalogue().datasets].map(([name, { now, history }]) => [name, (history ?? now).name]),
);

/** The declarations of a module of `src/`. @throws Error if they do not follow from the file alone */
function declarationsOf(file: string): string {
  const source = readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8');
  const { outputText, diagnostics } = ts.transpileDeclaration(source, {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2023 },
  });
  for (const { messageText } of diagnostics ?? [])
    throw new Error(`src/${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
  return outputText.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
}

/** The names of the files of the last build; a process that was started before this one still loads them. */
const list = new URL('files.json', dist);
const before = z
  .array(z.string())
  .catch([])
  .parse(existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []);

const bundled = await bundle(fileURLToPath(new URL('../src', import.meta.url)), fileURLToPath(dist));
const texts = {
  'schema.js': javascript,
  'schema.d.ts': declarations,
  'recorder.d.ts': declarationsOf('recorder.ts'),
  'client.d.ts': declarationsOf('client.ts'),
  'client-rows.d.ts': rowTypes(declaredObjects(), histories),
};
for (const [name, text] of Object.entries(texts)) writeFileSync(new URL(name, dist), text);
const written = [...bundled, ...Object.keys(texts)];
writeFileSync(list, JSON.stringify(written));
const kept = new Set([...before, ...written, 'files.json', 'built-of']);
for (const entry of readdirSync(dist, { withFileTypes: true }))
  if (entry.isFile() && !kept.has(entry.name)) rmSync(new URL(entry.name, dist));

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { catalogueOf } from '../src/api/catalogue.ts';
import { rowTypes } from '../src/reports/row-types.ts';
import { typedSchema } from '../src/reports/typed-schema.ts';
import { declaredObjects } from '../src/views/declared.ts';
import { bundle } from './bundle.ts';

/**
 * Builds the package: the bundle of its sources, `chain-recorder/schema`, and the declarations of `chain-recorder` and
 * `chain-recorder/client`.
 */
const dist = new URL('../dist/', import.meta.url);
const { javascript, declarations } = typedSchema(declaredObjects());
const histories = new Map(
  [...catalogueOf().datasets].map(([name, { now, history }]) => [name, (history ?? now).name]),
);

/** The declarations of a module of `src/`. @throws Error when they do not follow from the file alone */
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

rmSync(dist, { recursive: true, force: true });
await bundle(fileURLToPath(new URL('../src', import.meta.url)), fileURLToPath(dist));
writeFileSync(new URL('schema.js', dist), javascript);
writeFileSync(new URL('schema.d.ts', dist), declarations);
writeFileSync(new URL('recorder.d.ts', dist), declarationsOf('recorder.ts'));
writeFileSync(new URL('client.d.ts', dist), declarationsOf('client.ts'));
writeFileSync(new URL('client-rows.d.ts', dist), rowTypes(declaredObjects(), histories));

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import { typedSchema } from '../src/reports/typed-schema.ts';
import { declaredObjects } from '../src/views/declared.ts';

/** Writes the modules that `tsc` does not make: `chain-recorder/schema`, and the declarations of `chain-recorder`. */
const dist = new URL('../dist/', import.meta.url);
const { javascript, declarations } = typedSchema(declaredObjects());
const recorder = new URL('../src/recorder.ts', import.meta.url);
const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(recorder, 'utf8'), {
  fileName: 'recorder.ts',
  reportDiagnostics: true,
  compilerOptions: { target: ts.ScriptTarget.ES2023 },
});
for (const { messageText } of diagnostics ?? [])
  throw new Error(`src/recorder.ts: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
mkdirSync(dist, { recursive: true });
writeFileSync(new URL('schema.js', dist), javascript);
writeFileSync(new URL('schema.d.ts', dist), declarations);
writeFileSync(new URL('recorder.d.ts', dist), outputText);

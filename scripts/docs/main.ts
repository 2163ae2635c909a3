import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { editorSchema } from '../../src/config/editor-schema.ts';
import { withAnswerTable } from './answer-table.ts';
import { checksPage } from './checks-page.ts';
import { commandLinePage } from './cli-page.ts';
import { dbtStarters } from './dbt.ts';
import { dictionaryPages } from './dictionary.ts';
import { duckdbStarter } from './duckdb.ts';
import { metricsPage } from './metrics-page.ts';
import { recipes } from './recipes.ts';
import { formatSettingsPage } from './settings-page.ts';

/** Writes the generated documents, the JSON Schema of recorder.yaml, and the starters for DuckDB and dbt. */
const root = new URL('../../', import.meta.url);

function write(path: string, text: string): void {
  const file = new URL(path, root);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}

write('docs/reference/checks.md', checksPage());
write('docs/reference/cli.md', commandLinePage());
rmSync(new URL('docs/reference/datasets/', root), { recursive: true, force: true });
for (const [path, text] of dictionaryPages()) write(`docs/reference/${path}`, text);
write('docs/reference/metrics.md', metricsPage());
write('docs/reference/questions.md', recipes());
write('docs/reference/settings.md', formatSettingsPage(catalogNames));
const uptimePage = 'docs/explanation/uptime.md';
write(uptimePage, withAnswerTable(readFileSync(new URL(uptimePage, root), 'utf8')));
write('docs/recorder.schema.json', editorSchema(catalogNames));
write('examples/duckdb/lake.sql', duckdbStarter());
for (const [path, text] of dbtStarters()) write(`examples/dbt/${path}`, text);

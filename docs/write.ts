import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { catalogNames } from '../src/app/configured-feeds.ts';
import { editorSchema } from '../src/config/editor-schema.ts';
import { formatSettingsPage } from '../src/config/settings-page.ts';
import { checksPage } from '../src/reporting/checks/checks-page.ts';
import { dictionary } from '../src/reporting/reports/dictionary.ts';
import { recipes } from '../src/reporting/reports/recipes.ts';
import { metricsPage } from '../src/server/metrics/page.ts';
import { withAnswerTable } from './answer-table.ts';
import { commandLinePage } from './cli-page.ts';
import { dbtStarters } from './dbt.ts';
import { duckdbStarter } from './duckdb.ts';

/** Writes the documents that are generated from the code, the editors' schema of recorder.yaml, and the starters for DuckDB and dbt. */
writeFileSync(new URL('checks.md', import.meta.url), checksPage());
writeFileSync(new URL('cli.md', import.meta.url), commandLinePage());
writeFileSync(new URL('datasets.md', import.meta.url), dictionary());
writeFileSync(new URL('monitoring.md', import.meta.url), metricsPage());
writeFileSync(new URL('recipes.md', import.meta.url), recipes());
writeFileSync(new URL('settings.md', import.meta.url), formatSettingsPage(catalogNames));
const uptimePage = new URL('uptime.md', import.meta.url);
writeFileSync(uptimePage, withAnswerTable(readFileSync(uptimePage, 'utf8')));
writeFileSync(new URL('recorder.schema.json', import.meta.url), editorSchema(catalogNames));
mkdirSync(new URL('../examples/duckdb/', import.meta.url), { recursive: true });
writeFileSync(new URL('../examples/duckdb/lake.sql', import.meta.url), duckdbStarter());
for (const [path, text] of dbtStarters()) {
  const file = new URL(`../examples/dbt/${path}`, import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}

import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: [
    'src/db/{alert-tables,bookkeeping,change-tables,check-tables,export-tables,health-tables,identity-tables,process-tables,reading-tables,retention-tables,seal-tables}.ts',
    'src/datasets/{chain-data,metrics,node}/*.ts',
  ],
  out: 'drizzle',
  schemaFilter: ['recorder'],
});

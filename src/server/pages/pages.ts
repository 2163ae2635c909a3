import { alertsPage } from './alerts.tsx';
import { chartsPage } from './charts/charts.tsx';
import { changesPage } from './datasets/changes-page.tsx';
import { coveragePage } from './datasets/coverage-page.tsx';
import { listPage } from './datasets/list-page.tsx';
import { dataFilesPage } from './datasets/page-data.tsx';
import { rowPage } from './datasets/row-page.tsx';
import { rowsPage } from './datasets/rows-page.tsx';
import { discrepanciesPage } from './discrepancies.tsx';
import { homePage } from './home/home.tsx';
import { listFiles } from './list-files.ts';
import type { PageDefinition } from './page.ts';
import { quarantineItemPage, quarantinePage } from './quarantine.tsx';
import { queryPage } from './query/query.tsx';
import { queueJobsPage } from './queues/jobs.tsx';
import { queuesPage } from './queues/queues.tsx';
import { runPage, runsPage } from './runs.tsx';
import { nodeStatusPage } from './status/node.tsx';
import { statusPage } from './status/status.tsx';
import { validatorPage } from './validators/validator.tsx';
import { validatorsPage } from './validators/validators.tsx';

/** All pages. A new page needs an entry here, and one in `navigation.ts` if it is a main page. */
export const pages: readonly PageDefinition[] = [
  homePage,
  listPage,
  rowsPage,
  rowPage,
  changesPage,
  coveragePage,
  dataFilesPage,
  chartsPage,
  validatorsPage,
  validatorPage,
  statusPage,
  nodeStatusPage,
  queryPage,
  runsPage,
  runPage,
  queuesPage,
  queueJobsPage,
  quarantinePage,
  quarantineItemPage,
  discrepanciesPage,
  alertsPage,
  ...listFiles,
];

import { alerts } from './alerts.tsx';
import { charts } from './charts/charts.tsx';
import { changesPage } from './datasets/changes-page.tsx';
import { coveragePage } from './datasets/coverage/coverage-page.tsx';
import { files } from './datasets/files.ts';
import { listPage } from './datasets/list-page.tsx';
import { rowPage } from './datasets/row-page.tsx';
import { rowsPage } from './datasets/rows-page.tsx';
import { discrepancies } from './discrepancies.tsx';
import { home } from './home/home.tsx';
import { listFiles } from './list-files.ts';
import type { Page } from './page.ts';
import { quarantine, quarantineItem } from './quarantine.tsx';
import { query } from './query/query.tsx';
import { jobsOfQueue } from './queues/jobs.tsx';
import { queues } from './queues/queues.tsx';
import { run, runs } from './runs.tsx';
import { statusOfNode } from './status/node.tsx';
import { status } from './status/status.tsx';
import { validator } from './validators/validator.tsx';
import { validators } from './validators/validators.tsx';

/** All pages. A new page needs an entry here, and one in `navigation.ts` if it is a main page. */
export const pages: readonly Page[] = [
  home,
  listPage,
  rowsPage,
  rowPage,
  changesPage,
  coveragePage,
  files,
  charts,
  validators,
  validator,
  status,
  statusOfNode,
  query,
  runs,
  run,
  queues,
  jobsOfQueue,
  quarantine,
  quarantineItem,
  discrepancies,
  alerts,
  ...listFiles,
];

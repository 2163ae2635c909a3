// Records the validators that the configured nodes know, and says how each run went.
// Without a recorder.yaml the bundled simulated network is recorded.
import { openRecorder } from 'chain-recorder';

const recorder = await openRecorder();
try {
  for (const dataset of ['validators', 'subnets'])
    for (const { target, status, rowsWritten } of await recorder.record(dataset))
      console.log(dataset, target, status, rowsWritten);
} finally {
  await recorder.close();
}

// Records the validators of the configured nodes, and prints the result of each run. Without a recorder.yaml the
// bundled simulated network is recorded.
import { openRecorder } from 'chain-recorder';

const recorder = await openRecorder();
try {
  for (const dataset of ['validators', 'subnets'])
    for (const { target, status, rowsWritten } of await recorder.record(dataset))
      console.log(dataset, target, status, rowsWritten);
} finally {
  await recorder.close();
}

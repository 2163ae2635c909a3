/**
 * Examples of each command, as on a terminal: lines of commands, and below each line the start of the output.
 */
export const EXAMPLES = {
  up: `chain-recorder up
  the server listened  address=http://127.0.0.1:8080
  recording started  schedules=34 targets=339 queue=postgres …
chain-recorder up --roles worker`,
  migrate: `chain-recorder migrate
  the database is up to date`,
  datasets: `chain-recorder datasets
  dataset        history  every  units/call  operations
  metric_points  series   1h            100  GET /v2/chains/{chainId}/metrics…`,
  plan: `chain-recorder plan
  datasets       upstream  targets  every  calls_per_round  units_per_round …
  metric_points  metrics       116  1h                 116            11600 …`,
  retention: `chain-recorder retention
  everything is kept forever: the configuration has no retention`,
  record: `chain-recorder record validators --target node=validator-1
  run  target                        window  status  pages  items  rows written  quarantined
   17  node=validator-1 subnetId=1…  now     done        1     74            74            0`,
  backfill: `chain-recorder backfill metric_points --from 2026-01-01 --to 2026-02-01 --target chain_id=43114
  run  target            window                                       status  pages …
   18  chainId=43114 m…  2026-01-01T00:00:00Z … 2026-02-01T00:00:00Z  done        1 …
chain-recorder backfill p_blocks --from-height 0`,
  coverage: `chain-recorder coverage metric_points
  dataset        expected  covered  empty  failed  never_requested  not_supported …
  metric_points       116      116      0       0                0              0 …`,
  heal: `chain-recorder heal metric_points
  0 gaps processed, 0 rows written, 0 failed`,
  status: `chain-recorder status
  dataset     targets  last_success_at       late_by  never_recorded  failing …
  validators        4  2026-11-27T14:57:29Z  0s                    0        0 …`,
  quarantine: `chain-recorder quarantine
  the quarantine is empty
chain-recorder quarantine show 17`,
  query: `chain-recorder query "select node_id, stake_navax from validators order by 2 desc nulls last limit 1"
  node_id                                        stake_navax
  NodeID-JP3tVJik2JFmbTH1VHHCETH6UvgGpMWYJ  2803344798756103
chain-recorder query "select count(*) from validators" --as-of 2026-10-01`,
  report: `chain-recorder report stake-expiring --param days=14
  end_time                   days_left  kind       node_id  tx_id  stake …
  2026-11-29T19:56:16+00:00     2.2067  validator  NodeID-7rzZRRj3gq66XeoF…
chain-recorder report sla --month 2026-11 --format html > sla.html
chain-recorder report status --out /var/www/status`,
  seal: `chain-recorder seal --out seal.txt
  seal  until                       rows  ends  late  signed  head
     1  2026-11-27T14:59:02.376Z  616156     3     0  no      1d5db58f1110b0d7…`,
  verify: `chain-recorder verify --head seal.txt
  seal 1 until 2026-11-27T14:59:02.376Z: 616156 rows and 3 ends are unchanged since they were sealed; …`,
  export: `chain-recorder export validators --to /var/lake --incremental
  table       rows  files  bytes
  validators    37      1   4625`,
  backup: `chain-recorder backup --to /var/backups/recorder
  /var/backups/recorder: backup as of 2026-11-27T14:59:02.376Z, 616156 new rows …
chain-recorder backup --to s3://my-bucket/recorder`,
  restore: `chain-recorder restore --from /var/backups/recorder
  seal 1 until 2026-11-27T14:59:02.376Z: 616156 rows and 3 ends are unchanged since they were sealed; …
chain-recorder restore --from s3://my-bucket/recorder`,
  maintenance: `chain-recorder maintenance announce --node validator-1 --to 2026-12-01T04:00 --reason "new disk"
  maintenance 1 was announced`,
  incidents: `chain-recorder incidents note validator-1 --by ann --note "restarted" --at 2026-11-22T14:05
  note 1 was stored: "report incident --node validator-1" shows it`,
  alerts: `chain-recorder alerts
  no open alerts, and none were resolved in this range
chain-recorder alerts test ops
chain-recorder alerts ack 17 --by ann --note "the disk is ordered"
chain-recorder alerts replay --from 2026-10-01 --to 2026-11-01 --rule node-down`,
  doctor: `chain-recorder doctor
      check          found
  ok  configuration  34 schedules, 339 targets`,
  init: `chain-recorder init --network mainnet --node validator-1=http://10.0.0.11:9650 --chain 43114
  recorder.yaml was written`,
  completion: `chain-recorder completion bash
  _chain_recorder() {
eval "$(chain-recorder completion bash)"`,
  sandbox: `chain-recorder sandbox --port 8650
  {"url":"http://127.0.0.1:8650","seed":1,"chains":["43114",…`,
} satisfies Readonly<Record<string, string>>;

/** Unix seconds of the newest point's hour, and how many hours there are: one full page. */
export const NEWEST_HOUR = Date.UTC(2025, 9, 31, 23) / 1000;
export const HOURS = 2160;
const VALIDATORS = 700;

/** A page of hourly points of a metric, newest first, the same at every call. */
export function metricPage(): string {
  const results = Array.from({ length: HOURS }, (_, at) => ({
    value: 1_000_000 + ((at * 7919) % 900_000),
    timestamp: NEWEST_HOUR - at * 3600,
  }));
  return JSON.stringify({ results });
}

/** The `result` of platform.getCurrentValidators, the same at every call. */
export function validatorList(): string {
  const owner = {
    locktime: '0',
    threshold: '1',
    addresses: ['P-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
  };
  const validators = Array.from({ length: VALIDATORS }, (_, at) => ({
    txID: `2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsj${1000 + at}`,
    startTime: String(1_763_000_000 - at * 600),
    endTime: String(1_794_536_000 - at * 600),
    nodeID: `NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSL${1000 + at}`,
    weight: String(2_000_000_000_000 + at * 1_000_000_007),
    validationRewardOwner: owner,
    delegationRewardOwner: owner,
    potentialReward: String(117_431_493_426 + at),
    accruedDelegateeReward: '0',
    delegationFee: '10.0000',
    uptime: '99.1234',
    connected: true,
    signer: {
      publicKey: `0x${'8f95423f7142d00a'.repeat(6)}`,
      proofOfPossession: `0x${'86a3ab4c45cfe31c'.repeat(12)}`,
    },
    delegatorCount: '2',
    delegatorWeight: '25000000000',
  }));
  return JSON.stringify({ validators });
}

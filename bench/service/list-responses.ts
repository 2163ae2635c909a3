import { createHash } from 'node:crypto';

/** Unix seconds of the newest point's hour, and the number of hours: one full page. */
export const NEWEST_HOUR = Date.UTC(2025, 9, 31, 23) / 1000;
export const HOURS = 2160;
export const VALIDATORS = 900;
export const SUBNETS = 1500;
const SUBNETS_A_PAGE = 500;
export const TRANSACTIONS = 5000;
const TRANSACTIONS_A_PAGE = 100;

/** From one round to the next, one item in this many has another value. */
const SHARE = 100;

/** The last round in which an item changed; 0: never. @param at the item's index in its list */
function changedIn(at: number, round: number): number {
  return Math.max(0, round - ((((round - at) % SHARE) + SHARE) % SHARE));
}

/** A page of hourly points of a metric, newest first. */
export function metricPage(round: number): string {
  const results = Array.from({ length: HOURS }, (_, at) => ({
    value: 1_000_000 + ((at * 7919) % 900_000) + changedIn(at, round),
    timestamp: NEWEST_HOUR - at * 3600,
  }));
  return JSON.stringify({ results });
}

/** The `result` of platform.getCurrentValidators. */
export function validatorList(round: number): string {
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
    delegatorWeight: String(25_000_000_000 + changedIn(at, round)),
  }));
  return JSON.stringify({ validators });
}

/** A page of a network's subnets, each with one blockchain. @param from index of its first one */
export function subnetPage(network: string, round: number, from: number): string {
  const addresses = ['avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'];
  const subnets = places(from, SUBNETS_A_PAGE, SUBNETS).map((at) => ({
    createBlockTimestamp: 1_737_000_000 - at * 3600,
    createBlockIndex: String(14_210_400 - at),
    subnetId: digest(`subnet ${network} ${at}`),
    ownerAddresses: addresses,
    threshold: 1,
    locktime: changedIn(at, round),
    subnetOwnershipInfo: { locktime: 0, threshold: 1, addresses },
    isL1: at % 3 === 0,
    blockchains: [
      {
        blockchainId: digest(`blockchain ${network} ${at}`),
        blockchainName: `chain ${at}`,
        createBlockTimestamp: 1_737_000_000 - at * 3600,
        createBlockNumber: String(14_210_400 - at),
        vmId: 'srEXiWaHuhNyGwPUi444Tu47ZEDwxTWrbQiuD7FmgSAQ6X7Dy',
        subnetId: digest(`subnet ${network} ${at}`),
      },
    ],
  }));
  return JSON.stringify({ subnets, ...nextOf(from, SUBNETS_A_PAGE, SUBNETS) });
}

/** A page of an address's transactions, newest first. @param path contains the address */
export function transactionPage(path: string, from: number): string {
  const transactions = places(from, TRANSACTIONS_A_PAGE, TRANSACTIONS).map((at) => ({
    blockNumber: String(71_234_567 - at),
    blockTimestamp: 1_763_600_000 - at * 2,
    blockHash: `0x${digest(`block ${path} ${at}`)}`,
    chainId: '43114',
    blockIndex: at % 40,
    txHash: `0x${digest(`transaction ${path} ${at}`)}`,
    txStatus: '1',
    txType: 2,
    gasLimit: '51373',
    gasUsed: String(21_000 + ((at * 7919) % 30_000)),
    gasPrice: String(470_000_000_000 + at),
    nonce: String(TRANSACTIONS - at),
    from: { address: /0x[0-9a-f]{40}/.exec(path)?.[0] },
    to: {
      name: 'Wrapped AVAX',
      symbol: 'WAVAX',
      decimals: 18,
      logoUri: 'https://example.org/wavax.png',
      address: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    },
    method: {
      callType: 'CONTRACT_CALL',
      methodHash: '0xa9059cbb',
      methodName: 'transfer(address,uint256)',
    },
    value: `${at + 1}0000000000000000`,
  }));
  return JSON.stringify({ transactions, ...nextOf(from, TRANSACTIONS_A_PAGE, TRANSACTIONS) });
}

const places = (from: number, page: number, all: number) =>
  Array.from({ length: Math.min(page, all - from) }, (_, index) => from + index);

const nextOf = (from: number, page: number, all: number) =>
  from + page < all ? { nextPageToken: String(from + page) } : {};

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

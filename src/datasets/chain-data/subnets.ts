import { defineDataset } from '../dataset.ts';
import { flag, hex, integer, lockTime, object, optional, set, text, uint, unixSeconds } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { ownership } from './ownership.ts';
import { subnetList } from './subnet-list.ts';
import { validatorManager } from './validator-manager.ts';

const STALE = 'Deprecated, and stale once the ownership was transferred: see subnet_ownership_info.';

/** Subnets without their blockchains, which are a separate dataset. */
export const subnets = defineDataset({
  name: 'subnets',
  about: 'The subnets of the network and the L1s among them, with every change of their owners.',
  operations: ['GET /v1/networks/{network}/subnets'],
  history: 'state',
  source: subnetList,
  request: ['network'],
  key: ['network', 'subnet_id'],
  items: (body) => getList(body, 'subnets'),
  ignore: ['blockchains'],
  item: object({
    subnetId: text(),
    createBlockTimestamp: optional(unixSeconds()),
    createBlockIndex: optional(integer('Height of the block that created the subnet; -1: the genesis.')),
    isL1: optional(flag()),
    subnetOwnershipInfo: optional(ownership),
    l1ConversionTransactionHash: optional(hex()),
    l1ValidatorManagerDetails: optional(validatorManager),
    ownerAddresses: optional(set(undefined, STALE)),
    threshold: optional(uint(STALE)),
    locktime: optional(lockTime(STALE)),
  }),
  example: {
    createBlockTimestamp: 1737000000,
    createBlockIndex: '14210400',
    subnetId: 'eYwmVU67LmSfZb1RwqCMhBYkFyG8ftxn6jAwqzFmxC9STBWLC',
    ownerAddresses: ['avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    threshold: 1,
    locktime: 0,
    subnetOwnershipInfo: {
      locktime: 0,
      threshold: 1,
      addresses: ['avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    },
    isL1: true,
    l1ConversionTransactionHash: '2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsjzZMm',
    l1ValidatorManagerDetails: {
      blockchainId: '2TTSLdR6uEM3R5Ukej3YThHSyPf6XCfppAsh5vAuzFA1rY5w5e',
      contractAddress: '0x0FEEDC0DE0000000000000000000000000000000',
    },
    blockchains: [],
  },
});

export const { table: subnetsTable } = subnets;

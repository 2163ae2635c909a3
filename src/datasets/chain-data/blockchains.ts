import { defineDataset } from '../dataset.ts';
import { integer, object, optional, text, uint, unixSeconds } from '../fields.ts';
import { withGenesisHash } from './genesis.ts';
import { blockchainsIn, subnetList } from './subnet-list.ts';

/**
 * Blockchains without their geneses. A genesis is large and never changes, so each genesis is stored once by
 * its content, in genesis_data.
 */
export const blockchains = defineDataset({
  name: 'blockchains',
  about: 'The blockchains of all subnets.',
  operations: ['GET /v1/networks/{network}/subnets'],
  history: 'state',
  source: subnetList,
  request: ['network'],
  key: ['network', 'blockchain_id'],
  items: (body) => blockchainsIn(body).map(withGenesisHash),
  item: object({
    blockchainId: text(),
    blockchainName: optional(text()),
    subnetId: optional(text()),
    vmId: optional(text()),
    evmChainId: optional(uint()),
    createBlockTimestamp: optional(unixSeconds()),
    createBlockNumber: optional(integer('-1: the genesis.')),
    genesisHash: optional(text('Key of the genesis in genesis_data.')),
  }),
  example: {
    createBlockTimestamp: 1737000060,
    createBlockNumber: '14210430',
    blockchainId: '2TTSLdR6uEM3R5Ukej3YThHSyPf6XCfppAsh5vAuzFA1rY5w5e',
    vmId: 'mDtV8ES8wRL1j2m6Kvc1qRFAvnpq4kufhueAY1bwbzVhk336o',
    subnetId: 'eYwmVU67LmSfZb1RwqCMhBYkFyG8ftxn6jAwqzFmxC9STBWLC',
    blockchainName: 'Example L1',
    evmChainId: 432204,
    genesisHash: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  },
});

export const { table: blockchainsTable } = blockchains;

import { defineDataset } from '../dataset.ts';
import { json, object, text } from '../fields.ts';
import { genesisHash, genesisOf } from './genesis.ts';
import { blockchainsIn, subnetList } from './subnet-list.ts';

/** Genesis data by content. Blockchains with the same genesis share one row, even across networks. */
export const genesisData = defineDataset({
  name: 'genesis_data',
  about: 'Genesis data of blockchains, stored once by content.',
  operations: ['GET /v1/networks/{network}/subnets'],
  history: 'log',
  source: subnetList,
  request: [],
  key: ['genesis_hash'],
  items: (body) =>
    blockchainsIn(body)
      .map(genesisOf)
      .filter((genesis) => genesis !== undefined)
      .map((genesis) => ({ genesisHash: genesisHash(genesis), genesisData: genesis })),
  item: object({
    genesisHash: text('SHA-256 of the received JSON text, in hexadecimal.'),
    genesisData: json('Genesis of an EVM chain, or the genesis text of another virtual machine.'),
  }),
  example: {
    genesisHash: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
    genesisData: {
      config: { chainId: 432204, feeConfig: { gasLimit: 15_000_000, minBaseFee: 25_000_000_000 } },
      alloc: { '8db97C7cEcE249c2b98bDC0226Cc4C2A57BF52FC': { balance: '0x52b7d2dcc80cd2e4000000' } },
      gasLimit: '0xe4e1c0',
      timestamp: '0x0',
    },
  },
});

export const { table: genesisDataTable } = genesisData;

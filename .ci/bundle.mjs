// The first step of the build. The command line of tsdown warns of Node 20 at each run; its function does not.
import { build } from 'tsdown';

await build({ logLevel: 'warn' });

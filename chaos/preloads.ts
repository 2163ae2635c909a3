/** Code that a recorder's process loads before the recorder itself, by `node --import`: faults of a machine. */
const asImport = (code: string): readonly string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(code)}`,
];

/** SIGUSR2 blocks the event loop for this many ms. */
export const blocksOnSignal = (milliseconds: number) =>
  asImport(
    `process.on('SIGUSR2',()=>{const t=performance.now();while(performance.now()-t<${milliseconds});process.stderr.write('blocked\\n')})`,
  );

/** Each SIGUSR2 sets the process's clock to the next of these offsets, in ms. @param first the offset at the start */
export const clockJumps = (offsets: readonly number[], first = 0) =>
  asImport(
    `const R=Date;let off=${first};const offs=${JSON.stringify(offsets)};` +
      'globalThis.Date=class Date extends R{constructor(...a){if(a.length)super(...a);else super(R.now()+off)}static now(){return R.now()+off}};' +
      "process.on('SIGUSR2',()=>{off=offs.shift()??0;process.stderr.write('the clock jumped\\n')})",
  );

/** The resolver returns a temporary failure for this host. */
export const undecidedHost = (host: string) =>
  asImport(
    "import dns from 'node:dns';const real=dns.lookup;" +
      `dns.lookup=(name,options,done)=>{if(name!==${JSON.stringify(host)})return real(name,options,done);` +
      "const error=Object.assign(new Error('getaddrinfo EAI_AGAIN '+name),{code:'EAI_AGAIN',syscall:'getaddrinfo',hostname:name});" +
      "process.nextTick(typeof options==='function'?options:done,error)}",
  );

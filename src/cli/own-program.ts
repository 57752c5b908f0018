// How this very program is started: what is written down for others to start, and what starts a daemon in the background.

/** With node's own options. */
export function ownProgram(): readonly string[] {
  return [process.execPath, ...process.execArgv, process.argv[1] ?? '']
}

// The command that starts this program, for hosts that start it and for a daemon in the background.

/** With node's own options. */
export function ownProgram(): readonly string[] {
  return [process.execPath, ...process.execArgv, process.argv[1] ?? '']
}

// `switchboard version`: which Switchboard this is.
import { VERSION } from '../../../runtime/version.ts'
import type { Run } from '../../context.ts'

export const version: Run = async (context) => {
  const told = { version: VERSION, node: process.versions.node }
  if (context.json) await context.printJson(told)
  else await context.print(`switchboard ${told.version} (Node.js ${told.node})`)
  return 0
}

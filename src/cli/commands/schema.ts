// `switchboard schema`: the JSON Schema of switchboard.yaml, so that an editor can complete and check it.
import type { Run } from '../context.ts'

export const schema: Run = async (context) => {
  const { configurationSchema } = await import('../configuration.ts')
  const value = await configurationSchema()
  if (context.json) await context.printJson(value)
  else await context.print(JSON.stringify(value, null, 2))
  return 0
}

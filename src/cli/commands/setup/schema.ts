// `switchboard schema`: the JSON Schema of switchboard.yaml, so that an editor can complete and check it. With the
// adapters of the `modules` that the file in force names.
import type { Run } from '../../context.ts'
import { oneLine } from '../../output/text.ts'

export const schema: Run = async (context) => {
  const { configurationSchema } = await import('../../configuration.ts')
  const { schema: value, problems } = await configurationSchema(context.configFile())
  for (const problem of problems) context.note(`${context.paint.yellow('warning:')} ${oneLine(problem)}`)
  if (context.json) await context.printJson(value)
  else await context.print(JSON.stringify(value, null, 2))
  return 0
}

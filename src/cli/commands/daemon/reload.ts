// `switchboard reload`: the daemon reads its configuration again; a wrong one is told and changes nothing.
import { SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { oneLine } from '../../output/text.ts'

export const reload: Run = async (context) => {
  const daemon = await context.daemon()
  const result = await daemon.ask('POST /api/reload')
  if (context.json) await context.printJson(result)
  else if (result.ok)
    await context.print(wordsIn().daemonCommands.reloaded({ digest: result.digest.slice(0, 12) }))
  else {
    throw new SwitchboardError('config_invalid', result.problem ?? 'the configuration does not hold', {
      hint: 'the old configuration stays in force; mend the file and look with: switchboard check',
    })
  }
  for (const warning of result.warnings) context.warn(oneLine(warning))
  return result.ok ? 0 : 2
}

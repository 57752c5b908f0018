// `switchboard doctor --security`: what is open, how bad that is and what closes it; with --fix, modes of our own files.
import type { SecurityFinding, SecurityReport, Severity } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { daemonAnswers } from '../../daemon-client.ts'
import { oneLine } from '../../output/text.ts'
import { demandGivenFile, fileToReadWith } from '../../own-instance.ts'

export interface SecurityOptions {
  readonly fix?: boolean
  readonly sendTest?: boolean
}

const ORDER: readonly Severity[] = ['high', 'medium', 'low']

export const doctorSecurity: Run<SecurityOptions> = async (context, _args, options) => {
  const { fix = false, sendTest = false } = options
  const { fileFindings, lookAtFiles, mendFiles } = await import('../../../health/file-modes.ts')
  demandGivenFile(context.instance)
  const judged = await judgeSecurity(context, sendTest)
  const modes = process.platform !== 'win32'
  const { files, unseen } = modes ? lookAtFiles(context.folder, judged.files) : { files: [], unseen: [] }
  const findings = [...(fix ? mendFiles(files) : fileFindings(files)), ...judged.findings].toSorted(
    (a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity),
  )
  const unjudged = [...judged.unjudged, ...unseen, ...(modes ? [] : [wordsIn().security.unjudged.noModes])]
  const ok = !findings.some(({ severity, fixed }) => severity === 'high' && fixed !== true)
  if (context.json)
    await context.printJson({
      ...{ ok, findings, unjudged },
      ...(judged.tried === undefined ? {} : { tried: judged.tried }),
    })
  else await context.print(describe(context, findings, { unjudged, tried: judged.tried ?? [] }))
  return ok ? 0 : 1
}

/** As the daemon judges itself; without one, what the configuration says. */
async function judgeSecurity(context: Context, sendTest: boolean): Promise<SecurityReport> {
  if (await daemonAnswers(context.folder.socket)) {
    const daemon = await context.daemon()
    const { security } = await daemon.ask('GET /api/doctor', {
      query: { security: 'true', ...(sendTest ? { send_test: 'true' } : {}) },
    })
    if (security !== undefined) return security
    return nothingJudged(wordsIn().security.unjudged.oldDaemon)
  }
  const { judgeConfiguration } = await import('../../../health/judge-security.ts')
  const file = fileToReadWith(context.instance, context.terminal.env)
  try {
    const judged = await judgeConfiguration(file, context.folder)
    return sendTest ? { ...judged, tried: [wordsIn().security.tried.noDaemon] } : judged
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    return nothingJudged(wordsIn().security.unjudged.configuration({ why }))
  }
}

function nothingJudged(why: string): SecurityReport {
  return { findings: [], unjudged: [why], files: { config: [], secrets: [], database: null } }
}

function describe(
  { paint }: Context,
  findings: readonly SecurityFinding[],
  { unjudged, tried }: { readonly unjudged: readonly string[]; readonly tried: readonly string[] },
): string {
  const words = wordsIn().security.report
  const colour = { high: paint.red, medium: paint.yellow, low: paint.dim }
  const label = (text: string) => paint.dim(text) + ' '.repeat(Math.max(1, 12 - text.length))
  const lines = findings.map(({ severity, what, key, fix, fixed }) => {
    const done =
      fixed === true
        ? ` ${paint.green(words.fixed)}`
        : fixed === false
          ? ` ${paint.red(words.notFixed)}`
          : fix === undefined
            ? ''
            : ` ${words.fixable}`
    return `${colour[severity](severity.padEnd(6))}  ${oneLine(what)} ${paint.dim(`[${oneLine(key)}]`)}${done}`
  })
  return [
    ...(lines.length === 0 ? [words.nothingOpen] : lines),
    ...tried.map((one) => `${label(words.tried)}${oneLine(one)}`),
    ...unjudged.map((one) => `${label(words.notJudged)}${oneLine(one)}`),
  ].join('\n')
}

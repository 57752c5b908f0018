// What the demo agent says. It is a part of Switchboard, so people read its words in their language.
import { plural } from '../plural.ts'

export const demo = {
  help: [
    'I am the demo agent. Try:',
    '- `help`: this list',
    '- `deploy`: I ask for your approval first, then "run" it',
    '- `remind me in 5s to stretch`: I speak first, later (it survives a restart)',
    '- anything else: I repeat it',
  ].join('\n'),
  deploy: {
    tool: 'Deploy',
    description: ({ what }: { readonly what: string }) => `Deploy ${what} to production`,
  },
  reminder: ({ about }: { readonly about: string }) => `⏰ Reminder: ${about}`,
  willRemind: ({ within }: { readonly within: string }) => `I will remind you in ${within}.`,
  remindTooFar: 'I can remember things for up to 7 days.',
  echo: ({ text }: { readonly text: string }) => `You said: ${text}`,
  withFiles: ({ names }: { readonly names: string }) => `(with ${names})`,
  earlier: ({ count }: { readonly count: number }) =>
    `(${plural(count, 'earlier message')} ${count === 1 ? 'was' : 'were'} not addressed to me)`,
  repeated: '(delivered again after an interruption)',
  deployed: ({ input, by }: { readonly input: string; readonly by: string | null }) =>
    `🚀 Deployed: \`${input}\` (allowed by ${by})`,
  expired: 'Not deployed: the approval was not answered in time.',
  unreachable: 'Not deployed: no approver could be reached.',
  denied: ({ by }: { readonly by: string | null }) => `Not deployed: denied by ${by}.`,
}

// What issue 18 promises: from nothing to a bot that answers, and a life after that. The parts that stand alone.
import { requirements } from './row.ts'

export const FIRST_RUN = requirements(
  '18 The first run',
  `
built   18 I18.link-pasted           A link pasted into an open /chat signs in, and its ticket leaves the address bar
pending 18 I18.pack-whole            npm pack builds first: the tarball holds dist/ and its pages, and an installed one runs init, up, a message, channel and stop
built   18 I18.gitignore             init in a git repository keeps its secrets and the data folder out of it, and leaves what others wrote there
built   18 I18.secret-in-git         check warns of a secret file that git would take, and of one that it has
pending 18 I18.secrets-at-once       secrets set takes effect at once: what waits for the secret starts, what uses it starts anew
pending 18 I18.add-invalid-connector agents add of a connector that there is none of exits 2 and prints no lines
pending 18 I18.planned-platform      integrations add --platform of what is not built exits 2
`,
)

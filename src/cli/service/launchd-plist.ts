// The launchd agent of macOS: started at login, started again when it fails.
import type { ServicePlan } from './systemd-unit.ts'

export const launchdLabel = (name: string) => `local.${name}`

export function launchdPlist({ name, command, workingFolder, environment, logFile }: ServicePlan): string {
  const variables = Object.entries(environment).map(
    ([key, value]) => `    <key>${xml(key)}</key>\n    <string>${xml(value)}</string>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xml(launchdLabel(name))}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((one) => `    <string>${xml(one)}</string>`).join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(workingFolder)}</string>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>60</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>StandardOutPath</key>
  <string>${xml(logFile)}</string>
  <key>StandardErrorPath</key>
  <string>${xml(logFile)}</string>
</dict>
</plist>
`
}

/** Control characters have no place in XML, escaped or not. */
function xml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

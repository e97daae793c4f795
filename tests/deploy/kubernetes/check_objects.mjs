// Checks Kubernetes objects (a JSON array in objects.json of the working
// folder) twice: against the types, which find misspelt fields, and against the
// schemas, which know formats. Prints the problems and exits with 1 if there
// are any.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "node_modules", "x.js"));
const ts = require("typescript");
const objects = JSON.parse(readFileSync("objects.json", "utf8"));
const moduleOf = ({ apiVersion }) =>
  (apiVersion.startsWith("monitoring.coreos.com/") ? "@kubernetes-models/prometheus-operator/" : "kubernetes-models/") + apiVersion;

const problems = [];
for (const object of objects) {
  const models = await import(pathToFileURL(join(process.cwd(), "node_modules", moduleOf(object), "index.js")));
  try {
    new models[object.kind](object).validate();
  } catch (error) {
    problems.push(`${object.kind} ${object.metadata.name}: ${error.message}`);
  }
}

const source = objects
  .map((object, i) => `import type { I${object.kind} as T${i} } from "${moduleOf(object)}";\nexport const o${i}: T${i} = ${JSON.stringify(object)};\n`)
  .join("");
const file = join(process.cwd(), "objects.ts");
const options = { noEmit: true, strict: true, skipLibCheck: true, types: [], module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
const host = ts.createCompilerHost(options);
const { readFile, fileExists } = host;
host.readFile = (name) => (name === file ? source : readFile(name));
host.fileExists = (name) => name === file || fileExists(name);
host.getSourceFile = (name, version) => {
  const text = host.readFile(name);
  return text === undefined ? undefined : ts.createSourceFile(name, text, version);
};
for (const found of ts.getPreEmitDiagnostics(ts.createProgram([file], options, host))) {
  problems.push(ts.flattenDiagnosticMessageText(found.messageText, "\n"));
}
if (problems.length > 0) {
  console.log(problems.join("\n"));
  process.exit(1);
}

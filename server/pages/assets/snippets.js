// One call as a program in other languages. Texts are quoted for the language.

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const kMethods = {
  '/v1/rank': 'RankingService/Rank',
  '/v1/search': 'CatalogService/SearchDocuments',
  '/v1/explain': 'RankingService/Explain',
};

function curl({ path, request, needsKey }) {
  const key = needsKey ? ` \\\n  -H "Authorization: Bearer $SEMRANK_API_KEY"` : '';
  return `curl ${location.origin}${path}${key} \\\n  -d ${shell(JSON.stringify(request))}`;
}

function python({ path, request, needsKey }) {
  const body = JSON.stringify(JSON.stringify(request));  // also a string of Python
  const headers = needsKey ? ', headers={"Authorization": f"Bearer {os.environ[\'SEMRANK_API_KEY\']}"}' : '';
  return `import json${needsKey ? '\nimport os' : ''}
import urllib.request

request = urllib.request.Request("${location.origin}${path}", data=${body}.encode()${headers})
with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
}

function javaScript({ path, request, needsKey }) {
  const key = needsKey ? ', Authorization: `Bearer ${process.env.SEMRANK_API_KEY}`' : '';
  return `const response = await fetch(${JSON.stringify(location.origin + path)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json'${key} },
  body: JSON.stringify(${JSON.stringify(request)}),
});
console.log(await response.json());`;
}

const grpcPort = () => document.querySelector('meta[name=grpc-port]').content;

function grpc({ path, request, needsKey }) {
  const key = needsKey ? ` -H "authorization: Bearer $SEMRANK_API_KEY"` : '';
  const plain = location.protocol === 'https:' ? '' : ' -plaintext';
  return `grpcurl${plain}${key} -d ${shell(JSON.stringify(request))} \\\n  ${location.hostname}:${grpcPort()} semrank.v1.${kMethods[path]}`;
}

export const kLanguages = { curl, JavaScript: javaScript, Python: python, gRPC: grpc };

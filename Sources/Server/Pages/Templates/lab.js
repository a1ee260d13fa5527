(function(){
"use strict";
var d=document,$=function(i){return d.getElementById(i)},lab=d.body.dataset.root,form=$("form");
var place=location.pathname.replace(/\/+$/,""),base=place.endsWith(lab)?place.slice(0,-lab.length).replace(/^\/+/,"/").replace(/\/$/,""):"",root=base+lab;
d.querySelectorAll("a[href^='/']").forEach(function(a){a.setAttribute("href",base+a.getAttribute("href"))});
var current={method:"GET",path:root+"/answer",credentials:"none",timeout:0,token:""};
function composed(){
var q=[];
Array.from(form.elements).forEach(function(e){if(e.name&&e.value!==""){q.push(e.name+"="+encodeURIComponent(e.value))}});
return {method:$("method").value,path:root+"/answer"+(q.length?"?"+q.join("&"):""),credentials:"none",timeout:0,token:""}}
function quoted(s){return "'"+s.replace(/'/g,"'\\''")+"'"}
function show(){
var url=location.origin+current.path;
$("url").textContent=current.method+" "+url;
$("curl").textContent="curl -i"+(current.method==="GET"?"":" -X "+current.method)+(current.timeout?" -m "+current.timeout/1000:"")
+(current.token?" -H "+quoted("Authorization: Bearer "+current.token):"")+" "+quoted(url)}
function compose(){current=composed();$("summary").textContent="";show()}
function session(){return "page-"+Math.random().toString(36).slice(2,10)}
function fill(path){
form.reset();
if(path.indexOf(root+"/answer")!==0){return}
new URLSearchParams(path.split("?")[1]||"").forEach(function(v,k){var e=form.elements.namedItem(k);if(e){e.value=v;if(e.closest("#more")){$("more").open=true}}})}
async function token(kind){
if(kind==="none"){return ""}
if(kind==="unknown"){return "nobody.gave-this-out"}
var q=kind==="valid"?"?lifetime_ms=600000":kind==="expired"?"?expired=true":"?expired=true&refreshes=0";
var r=await fetch(root+"/token"+q,{method:"POST"});
return (await r.json()).access_token}
function facts(pairs){
var l=$("reading");l.textContent="";
pairs.forEach(function(p){
if(p[1]===undefined||p[1]===""){return}
var t=d.createElement("dt"),v=d.createElement("dd");t.textContent=p[0];v.textContent=p[1];l.append(t,v)})}
function lost(timedOut){
var post=["GET","PUT","DELETE"].indexOf(current.method)<0;
facts([["kind",post?"unknownOutcome":timedOut?"timeout":"network"],
["advice",post?"Does not repeat the call, because it may have taken effect.":"Backs off and repeats the call; offers to try again."]])}
async function read(status,headers,bytes){
var text="";for(var i=0;i<bytes.length;i++){text+=String.fromCharCode(bytes[i])}
var r=await fetch(root+"/read",{method:"POST",headers:{"Content-Type":"application/json"},
body:JSON.stringify({status:status,headers:headers,body_base64:btoa(text)})});
var f=await r.json();
if(!r.ok){facts([["reading",JSON.stringify(f)]]);return}
if(f.outcome==="success"){facts([["outcome","A success: the client decodes the value, wrapped or flat."]]);return}
facts([["kind",f.kind],["code",f.code],["status",String(f.status)],["family",f.family],
["retry",f.retry],["delay",f.retry_after===undefined?"":f.retry_after+" s"],["recovery",f.recovery],
["fields",f.fields.map(function(x){return x.field+": "+x.message}).join("\n")],["request id",f.request_id],
["shown",f.title+" / "+f.text],["buttons",f.primary+(f.secondary?", "+f.secondary:"")],["advice",f.advice]])}
function state(text,good){var s=$("status");s.textContent=text;s.className="status "+(good?"good":"bad")}
async function run(){
$("answer").hidden=false;state("…",true);$("body").textContent=$("headers").textContent="";facts([]);
var start=performance.now(),stop=new AbortController(),bytes=[],headers={},response,broken="";
var timer=current.timeout?setTimeout(function(){stop.abort()},current.timeout):0;
try{
response=await fetch(current.path,{method:current.method,headers:current.token?{Authorization:"Bearer "+current.token}:{},
cache:"no-store",signal:stop.signal});
response.headers.forEach(function(v,k){headers[k]=v});
$("headers").textContent=Object.keys(headers).map(function(k){return k+": "+headers[k]}).join("\n");
if(response.body){var r=response.body.getReader(),p;while(!(p=await r.read()).done){p.value.forEach(function(b){bytes.push(b)})}}
}catch(e){broken=stop.signal.aborted?"the timeout elapsed":"the connection broke, or the browser did not follow"}
clearTimeout(timer);
var took=Math.round(performance.now()-start)+" ms";
$("body").textContent=new TextDecoder().decode(new Uint8Array(bytes));
if(!response){state("No response: "+broken+" ("+took+")",false);lost(stop.signal.aborted);return}
var line=response.status+" "+response.statusText+(response.redirected?", redirected":"")+" ("+took+")";
state(line+(broken?"; then "+broken+" after "+bytes.length+" bytes":""),response.ok&&!broken);
if(broken&&response.ok){lost(stop.signal.aborted);return}
await read(response.status,headers,broken?[]:bytes)}
form.addEventListener("input",compose);
$("clear").addEventListener("click",function(){form.reset();compose()});
form.addEventListener("submit",function(e){e.preventDefault();compose();run()});
$("again").addEventListener("click",run);
d.querySelectorAll("[data-copy]").forEach(function(b){b.addEventListener("click",function(){
navigator.clipboard.writeText($(b.dataset.copy).textContent.replace(/^(GET|POST|PUT|PATCH|DELETE) /,""));
b.textContent="Copied";setTimeout(function(){b.textContent="Copy"},1500)})});
d.querySelectorAll(".try").forEach(function(b){b.addEventListener("click",async function(){
var path=base+b.dataset.path.replace("{session}",session());
fill(path);$("method").value=b.dataset.method;
current={method:b.dataset.method,path:path,credentials:b.dataset.credentials,timeout:Number(b.dataset.timeout),token:await token(b.dataset.credentials)};
$("summary").textContent=b.dataset.name+": "+b.parentNode.querySelector("p").textContent;
show();await run();var result=$("request").parentNode;result.scrollTop=0;result.scrollIntoView({block:"start"})})});
compose();
})();
